-- Records by their id, or its first characters, with the trace and the minute that each is in.
SELECT DISTINCT
    trace_id,
    arrayJoin(record_ids) AS record_id,
    toUInt32(intDiv(toUnixTimestamp64Nano(time), 60000000000) * 60) AS minute
FROM traces
WHERE late = 0
    AND ({trace_id:String} = '' OR trace_id = {trace_id:String})
    AND (NOT {is_whole:Bool} OR has(record_ids, {prefix:String}))
    AND arrayExists(each -> startsWith(each, {prefix:String}), record_ids)
    AND startsWith(record_id, {prefix:String})
ORDER BY record_id, trace_id
LIMIT {limit:UInt32}
