-- The means of a window from the roll-ups.
SELECT
    service, environment, route, rubric, toString(layer) AS layer, segment,
    sum(rollups.n) AS n, if(n = 0, NULL, sum(rollups.total) / n) AS mean, sum(failed) AS failed_records
FROM rollups FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
GROUP BY service, environment, route, rubric, layer, segment
ORDER BY service, environment, route, rubric, layer, segment
