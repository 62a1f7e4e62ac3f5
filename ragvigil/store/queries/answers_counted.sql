-- How many answers were stored since a time.
SELECT count() AS answers
FROM records
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
