-- Answers that users rated, by bins of time, and how many of them badly.
SELECT
    cityHash64(service, environment, route) AS series, service, environment, route,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    toFloat64(count()) AS n, toFloat64(countIf(worst < 0.5)) AS total
FROM ratings
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
GROUP BY service, environment, route, start
