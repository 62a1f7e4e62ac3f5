-- Records of each route by bins of time. Every rubric that always runs has a row for each record, so
-- the rubric with the most rows counts them.
SELECT
    service, environment, route,
    intDiv(toUnixTimestamp(counted.minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(records) AS requests
FROM
(
    SELECT minute, service, environment, route, max(rubric_records) AS records
    FROM
    (
        SELECT
            minute, service, environment, route, rubric,
            sum(n + not_applicable + absent) AS rubric_records
        FROM rollups FINAL
        WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        GROUP BY minute, service, environment, route, rubric
    )
    GROUP BY minute, service, environment, route
) AS counted
GROUP BY service, environment, route, start
ORDER BY start, service, environment, route
