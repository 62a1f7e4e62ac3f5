-- The means of a window from the scores themselves: what roll-ups must agree with.
SELECT
    service, environment, route, rubric, toString(layer) AS layer, segment,
    count(value) AS n, avg(value) AS mean, sum(failed) AS failed_records
FROM scores FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND stream = 'base'
GROUP BY service, environment, route, rubric, layer, segment
ORDER BY service, environment, route, rubric, layer, segment
