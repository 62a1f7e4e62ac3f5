-- The spans of some traces, received since a time.
SELECT
    *, toUnixTimestamp64Nano(Timestamp) AS start_nanos,
    arrayMap(x -> toUnixTimestamp64Nano(x), `Events.Timestamp`) AS event_nanos
FROM spans FINAL
WHERE TraceId IN {trace_ids:Array(String)} AND Received >= toDateTime({since:UInt32}, 'UTC')
ORDER BY TraceId, Timestamp, SpanId
