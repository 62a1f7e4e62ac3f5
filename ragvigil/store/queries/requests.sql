-- Records of each route by bins of time. Every rubric that always runs has a row for each record, so
-- the rubric with the most rows in a bin counts them. Rows are summed up by rubric first: a rubric's
-- most of every minute would keep a group for each minute of the day.
SELECT service, environment, route, start, max(records) AS requests
FROM
(
    SELECT
        service, environment, route, rubric,
        intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
        sum(n + not_applicable + absent) AS records
    FROM rollups FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
    GROUP BY service, environment, route, rubric, start
)
GROUP BY service, environment, route, start
ORDER BY start, service, environment, route
