-- Records with one score that meets all conditions, the lowest score first, after those of an earlier
-- page: where their rows lie.
SELECT
    toUnixTimestamp(any(scores.minute)) AS minute,
    toUnixTimestamp(any(scores.received)) AS received,
    trace_id,
    record_id,
    if({by_score:UInt8} = 1, ifNull(min(value), 2.), 0.) AS place,
    toUnixTimestamp64Nano(max(scores.time)) AS time_nanos
FROM scores FINAL
WHERE scores.minute >= toDateTime({since:UInt32}, 'UTC')
    AND scores.minute <= toDateTime({until:UInt32}, 'UTC')
    AND scores.time < toDateTime64({until:UInt32}, 9, 'UTC')
    AND ({service:String} = '' OR scores.service = {service:String})
    AND ({environment:String} = '' OR scores.environment = {environment:String})
    AND ({route:String} = '' OR scores.route = {route:String})
    AND ({rubric:String} = '' OR scores.rubric = {rubric:String})
    AND ({below:Float64} < 0 OR scores.value < {below:Float64})
    AND ({label:String} = '' OR has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(scores.label))), {label:String}))
GROUP BY trace_id, record_id
HAVING (place, -time_nanos, trace_id, record_id)
    > ({after_place:Float64}, -{after_nanos:Int64}, {after_trace:String}, {after_record:String})
ORDER BY place, time_nanos DESC, trace_id, record_id
LIMIT {limit:UInt32}
