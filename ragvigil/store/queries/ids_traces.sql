-- The first ids of traces that begin with a text, in order.
SELECT DISTINCT trace_id AS id
FROM traces
WHERE startsWith(trace_id, {prefix:String})
ORDER BY id
LIMIT {limit:UInt32}
