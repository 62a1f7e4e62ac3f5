-- The newest records that match, after those of an earlier page: where their rows lie.
SELECT
    toUnixTimestamp(minute) AS minute,
    toUnixTimestamp(received) AS received,
    toUnixTimestamp64Nano(time) AS time_nanos,
    trace_id,
    record_id
FROM records FINAL
WHERE records.minute >= toDateTime({since:UInt32}, 'UTC')
    AND records.minute <= toDateTime(least({until:UInt32}, intDiv({after_nanos:Int64}, 1000000000)), 'UTC')
    AND time < toDateTime64({until:UInt32}, 9, 'UTC')
    AND ({service:String} = '' OR records.service = {service:String})
    AND ({environment:String} = '' OR records.environment = {environment:String})
    AND ({route:String} = '' OR records.route = {route:String})
    AND (-time_nanos, trace_id, record_id)
        > (-{after_nanos:Int64}, {after_trace:String}, {after_record:String})
ORDER BY records.minute DESC, time DESC, trace_id, record_id
LIMIT {limit:UInt32}
