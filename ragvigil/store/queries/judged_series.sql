-- The names of the series of `judged_sums`.
SELECT DISTINCT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    service, environment, route, rubric, layer, segment
FROM judged_sums
WHERE start >= toDateTime({first:UInt32}, 'UTC') AND start < toDateTime({end:UInt32}, 'UTC')
