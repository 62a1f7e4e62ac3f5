-- The records of some traces, with their times and who stored the newest generation.
SELECT
    trace_id, groupUniqArray(record_id) AS record_ids, max(records.generation) AS generation,
    argMax(toUnixTimestamp64Nano(records.time), records.generation) AS time_nanos,
    argMax(toUnixTimestamp(records.received), records.generation) AS received,
    argMax(toString(records.replica), records.generation) AS writer
FROM records FINAL
WHERE trace_id IN {trace_ids:Array(String)} AND records.received >= toDateTime({since:UInt32}, 'UTC')
    AND gone = 0
GROUP BY trace_id
