-- How many answers services gave since a time, in a release or in any.
SELECT count() AS answers
FROM records
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND service IN {services:Array(String)}
    AND ({release:String} = '' OR service_version = {release:String})
