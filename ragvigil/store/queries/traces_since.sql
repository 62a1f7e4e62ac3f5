-- The newest generation of each trace, as in `traces_by_id.sql`, of those received since a time.
SELECT
    trace_id,
    max(traces.generation) AS generation,
    argMax(toUnixTimestamp64Nano(time), traces.generation) AS time_nanos,
    argMax(toUnixTimestamp64Nano(received), traces.generation) AS received_nanos,
    argMax(record_ids, traces.generation) AS record_ids,
    argMax(traces.kept, traces.generation) AS kept
FROM traces
WHERE late = 0 AND toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
    AND received >= toDateTime({received:UInt32}, 'UTC')
GROUP BY trace_id
