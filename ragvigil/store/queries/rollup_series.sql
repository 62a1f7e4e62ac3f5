-- The names of the series of a window, with the hash that `rollup_counts` gives.
SELECT DISTINCT
    cityHash64(service, environment, route, rubric, layer, segment) AS id,
    service, environment, route, rubric, layer, segment
FROM rollups
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
ORDER BY service, environment, route, layer, rubric, segment
