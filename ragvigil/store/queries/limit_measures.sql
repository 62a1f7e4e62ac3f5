-- Means of a measure of records, by route and bin.
SELECT
    toString(service) AS service, toString(environment) AS environment, toString(route) AS route,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start, '' AS layer,
    toFloat64(count()) AS n, sum(measures[{measure:String}]) AS total,
    sum(measures[{measure:String}] * measures[{measure:String}]) AS squares
FROM record_shapes FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND mapContains(measures, {measure:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} IN ('', '*') OR route = {route:String})
GROUP BY service, environment, route, start
ORDER BY service, environment, route, start
