-- The share of records with an error.
SELECT
    minute, service, environment, route, 'error' AS signal, '' AS segment,
    toFloat64(count()) AS n, toFloat64(countIf(ifNull(error, '') != '')) AS total, total AS squares
FROM records FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
GROUP BY minute, service, environment, route
