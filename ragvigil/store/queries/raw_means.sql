-- The means of a window from the scores themselves; roll-ups must agree with them. Names come from
-- the roll-ups, which hold each series once a minute: reading six names of each score costs a third
-- more. A series that was never rolled up has no names.
SELECT
    named.service AS service,
    named.environment AS environment,
    named.route AS route,
    named.rubric AS rubric,
    toString(named.layer) AS layer,
    named.segment AS segment,
    counted.n AS n,
    counted.mean AS mean,
    counted.failed_records AS failed_records
FROM
(
    SELECT series, count(value) AS n, avg(value) AS mean, sum(failed) AS failed_records
    FROM scores FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC')
        AND minute < toDateTime({end:UInt32}, 'UTC')
        AND stream = 'base'
    GROUP BY series
) AS counted
LEFT JOIN
(
    SELECT DISTINCT
        cityHash64(service, environment, route, rubric, layer, segment) AS id,
        service, environment, route, rubric, layer, segment
    FROM rollups
    WHERE minute >= toDateTime({first:UInt32}, 'UTC')
        AND minute < toDateTime({end:UInt32}, 'UTC')
) AS named ON named.id = counted.series
ORDER BY service, environment, route, rubric, layer, segment
