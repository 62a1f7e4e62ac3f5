SELECT
    toUnixTimestamp64Nano(toDateTime64(Timestamp, 9)) AS Start, TraceId, SpanId, ParentSpanId,
    TraceState, SpanName, SpanKind, ResourceAttributes, ScopeName, ScopeVersion, SpanAttributes,
    toInt64(Duration) AS Duration, StatusCode, StatusMessage,
    arrayMap(one -> toUnixTimestamp64Nano(toDateTime64(one, 9)), `Events.Timestamp`) AS EventTimes,
    `Events.Name` AS EventNames, `Events.Attributes` AS EventAttributes,
    `Links.TraceId` AS LinkTraces, `Links.SpanId` AS LinkSpans,
    `Links.TraceState` AS LinkStates, `Links.Attributes` AS LinkAttributes
FROM {table:Identifier}
WHERE Timestamp > fromUnixTimestamp64Nano({after:Int64})
ORDER BY Timestamp
LIMIT {rows:UInt32} WITH TIES
