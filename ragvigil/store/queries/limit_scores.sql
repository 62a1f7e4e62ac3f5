-- Means of a rubric, or shares of its label (`failed`: of what fails it), by route and bin. A rubric
-- without values counts on every record with a label.
SELECT
    service, environment, route, intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    any(layer) AS layer,
    sum(counted) AS n, sum(if({label:String} = '', value, hits)) AS total,
    sum(if({label:String} = '', squared, hits)) AS squares
FROM
(
    SELECT
        minute, toString(service) AS service, toString(environment) AS environment,
        toString(route) AS route, toString(rollups.layer) AS layer,
        toFloat64(if(rollups.n > 0, rollups.n, arraySum(mapValues(labels)))) AS counted,
        rollups.total AS value, rollups.squares AS squared,
        toFloat64(if({label:String} = 'failed', failed, labels[{label:String}])) AS hits
    FROM rollups FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND rubric = {rubric:String}
        AND ({service:String} = '' OR service = {service:String})
        AND ({route:String} IN ('', '*') OR route = {route:String})
)
GROUP BY service, environment, route, start
HAVING n > 0
ORDER BY service, environment, route, start
