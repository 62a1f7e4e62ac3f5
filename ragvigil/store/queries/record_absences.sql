-- Per service and instrumentor: how many records lack a field and why; field '' counts all.
SELECT service, scope, pair.1 AS field, pair.2 AS reason, count() AS records
FROM
(
    SELECT
        service,
        if(empty(instrumentors), '', instrumentors[1]) AS scope,
        arrayConcat([('', '')], CAST(absent, 'Array(Tuple(String, String))')) AS pairs
    FROM records FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
)
ARRAY JOIN pairs AS pair
GROUP BY service, scope, field, reason
ORDER BY service, scope, field, reason
