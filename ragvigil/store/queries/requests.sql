-- Records of each route by bins of time.
SELECT
    service, environment, route,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    count() AS requests
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY service, environment, route, start
ORDER BY start, service, environment, route
