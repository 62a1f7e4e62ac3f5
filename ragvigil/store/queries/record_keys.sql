-- The newest records that match: where their rows lie.
SELECT toUnixTimestamp(minute) AS minute, toUnixTimestamp(received) AS received, trace_id, record_id
FROM records FINAL
WHERE records.minute >= toDateTime({since:UInt32}, 'UTC')
    AND ({service:String} = '' OR records.service = {service:String})
    AND ({environment:String} = '' OR records.environment = {environment:String})
    AND ({route:String} = '' OR records.route = {route:String})
ORDER BY records.minute DESC, time DESC, trace_id, record_id
LIMIT {limit:UInt32}
