-- How many answers there are of a range.
SELECT count() AS answers
FROM records
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
