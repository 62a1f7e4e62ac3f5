-- Records with one score that meets all conditions, the lowest score first, after those of an earlier
-- page: where their rows lie.
SELECT
    toUnixTimestamp(any(minute)) AS minute_seconds,
    toUnixTimestamp(any(received)) AS received_seconds,
    trace_id,
    record_id,
    if({by_score:UInt8} = 1, ifNull(min(value), 2.), 0.) AS place,
    toUnixTimestamp64Nano(max(time)) AS time_nanos
FROM
(
    @scores
)
WHERE {asks_record:UInt8} = 0
    OR (minute, trace_id, record_id) IN
    (
        SELECT minute, trace_id, record_id FROM
        (
            @records
        )
        WHERE {asks_record:UInt8} = 1
    )
GROUP BY trace_id, record_id
HAVING (place, -time_nanos, trace_id, record_id)
    > ({after_place:Float64}, -{after_nanos:Int64}, {after_trace:String}, {after_record:String})
ORDER BY place, time_nanos DESC, trace_id, record_id
LIMIT {limit:UInt32}
