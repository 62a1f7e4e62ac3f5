-- The spans of one trace; the day of `Received` is the partition.
SELECT *, toUnixTimestamp64Nano(Timestamp) AS start_nanos
FROM spans FINAL
WHERE TraceId = {trace_id:String} AND toDate(Received) = toDate(toDateTime({received:UInt32}, 'UTC'))
ORDER BY Timestamp, SpanId
