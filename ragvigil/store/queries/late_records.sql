-- The records of some traces, with their times and who stored the newest generation: of several the last by name, so
-- that all daemons see the same.
SELECT
    trace_id, groupUniqArray(record_id) AS record_ids, max(records.generation) AS generation,
    argMax(toUnixTimestamp64Nano(records.time), records.generation) AS time_nanos,
    argMax(toUnixTimestamp(records.received), records.generation) AS received,
    argMax(toString(records.replica), (records.generation, toString(records.replica))) AS writer
FROM records FINAL
WHERE trace_id IN {trace_ids:Array(String)} AND records.received >= toDateTime({since:UInt32}, 'UTC')
    AND gone = 0
GROUP BY trace_id
