-- The newest records that match, after those of an earlier page: where their rows lie.
SELECT
    toUnixTimestamp(minute) AS minute_seconds,
    toUnixTimestamp(received) AS received_seconds,
    toUnixTimestamp64Nano(time) AS time_nanos,
    trace_id,
    record_id
FROM
(
    @records
)
WHERE (-time_nanos, trace_id, record_id)
    > (-{after_nanos:Int64}, {after_trace:String}, {after_record:String})
ORDER BY minute DESC, time DESC, trace_id, record_id
LIMIT {limit:UInt32}
