-- What is stored of some traces: distinct spans, who stored them, and who has the root: of
-- several the first by name, so that all daemons see the same.
SELECT
    TraceId AS trace_id, uniqExact(SpanId) AS spans, uniqExact(Replica) AS writers,
    minIf(toString(Replica), ParentSpanId = '') AS root_writer
FROM spans
WHERE TraceId IN {trace_ids:Array(String)} AND Received >= toDateTime({since:UInt32}, 'UTC')
GROUP BY TraceId
