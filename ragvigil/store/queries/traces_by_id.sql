-- The newest generation of each trace. Rows of late arrivals are left out, because they do not tell
-- what is stored.
SELECT
    trace_id,
    max(traces.generation) AS generation,
    argMax(toUnixTimestamp64Nano(time), traces.generation) AS time_nanos,
    argMax(toUnixTimestamp64Nano(received), traces.generation) AS received_nanos,
    argMax(record_ids, traces.generation) AS record_ids,
    argMax(traces.kept, traces.generation) AS kept,
    argMax(toString(traces.replica), traces.generation) AS writer,
    argMax(toString(traces.closed), traces.generation) AS closed
FROM traces
WHERE late = 0 AND trace_id IN {trace_ids:Array(String)}
GROUP BY trace_id
