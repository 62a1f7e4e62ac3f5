-- Every service and scope that sent spans, with the traces of its newest span names. Reads narrow
-- columns only. SDKs name a service that has no name unknown_service, or unknown_service:python.
SELECT
    service,
    scope,
    sum(spans) AS spans,
    arrayDistinct(arrayMap(name -> name.2, arraySlice(arrayReverseSort(groupArray((newest, trace_id))), 1, {names:UInt32}))) AS trace_ids
FROM
(
    SELECT
        if(startsWith(ServiceName, 'unknown_service'), '', ServiceName) AS service,
        ScopeName AS scope,
        count() AS spans,
        max(Timestamp) AS newest,
        argMax(TraceId, Timestamp) AS trace_id
    FROM spans
    WHERE Received >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY service, scope, SpanName
)
GROUP BY service, scope
ORDER BY service, scope
