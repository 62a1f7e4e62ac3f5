-- How many sessions had an answer since a time.
SELECT uniq(service, environment, session_id) AS sessions
FROM records
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND session_id != ''
    AND ({service:String} = '' OR service = {service:String})
