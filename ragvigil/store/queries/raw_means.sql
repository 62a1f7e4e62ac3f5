-- The means of a window from the scores themselves: what roll-ups must agree with.
SELECT
    any(scores.service) AS service,
    any(scores.environment) AS environment,
    any(scores.route) AS route,
    any(scores.rubric) AS rubric,
    toString(any(scores.layer)) AS layer,
    any(scores.segment) AS segment,
    count(value) AS n,
    avg(value) AS mean,
    sum(failed) AS failed_records
FROM scores FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND stream = 'base'
GROUP BY series
ORDER BY service, environment, route, rubric, layer, segment
