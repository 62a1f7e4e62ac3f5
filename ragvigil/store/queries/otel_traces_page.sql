-- A page of spans by time. Attributes come as JSON texts, so that columns of maps and of JSON read
-- alike. WITH TIES: a page never ends between two spans of the same time, after which the next page
-- begins.
SELECT
    toUnixTimestamp64Nano(toDateTime64(Timestamp, 9)) AS Start, TraceId, SpanId, ParentSpanId,
    TraceState, SpanName, SpanKind, ScopeName, ScopeVersion,
    toValidUTF8(toJSONString(ResourceAttributes)) AS ResourceText,
    toValidUTF8(toJSONString(SpanAttributes)) AS SpanText,
    toInt64(Duration) AS Duration, StatusCode, StatusMessage,
    arrayMap(one -> toUnixTimestamp64Nano(toDateTime64(one, 9)), `Events.Timestamp`) AS EventTimes,
    `Events.Name` AS EventNames,
    arrayMap(one -> toValidUTF8(toJSONString(one)), `Events.Attributes`) AS EventTexts,
    `Links.TraceId` AS LinkTraces, `Links.SpanId` AS LinkSpans, `Links.TraceState` AS LinkStates,
    arrayMap(one -> toValidUTF8(toJSONString(one)), `Links.Attributes`) AS LinkTexts
FROM {table:Identifier}
WHERE Timestamp > fromUnixTimestamp64Nano({after:Int64})
ORDER BY Timestamp
LIMIT {rows:UInt32} WITH TIES
