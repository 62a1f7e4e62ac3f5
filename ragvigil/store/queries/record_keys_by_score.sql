-- Records with one score that meets all conditions, the lowest score first: where their rows lie.
SELECT
    toUnixTimestamp(any(scores.minute)) AS minute,
    toUnixTimestamp(any(scores.received)) AS received,
    trace_id,
    record_id,
    min(value) AS lowest
FROM scores FINAL
WHERE scores.minute >= toDateTime({since:UInt32}, 'UTC')
    AND ({service:String} = '' OR scores.service = {service:String})
    AND ({environment:String} = '' OR scores.environment = {environment:String})
    AND ({route:String} = '' OR scores.route = {route:String})
    AND ({rubric:String} = '' OR scores.rubric = {rubric:String})
    AND ({below:Float64} < 0 OR scores.value < {below:Float64})
    AND ({label:String} = '' OR has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(scores.label))), {label:String}))
GROUP BY trace_id, record_id
ORDER BY
    if({by_score:UInt8} = 1, ifNull(lowest, 2), 0),
    max(scores.time) DESC,
    trace_id,
    record_id
LIMIT {limit:UInt32}
