-- Records on the routes of each issue in the last 24 hours, from the minute of its first member. Every
-- rubric that always runs has a row for each record, so the rubric with the most rows counts them.
SELECT issue_id, sum(counted.records) AS requests
FROM
(
    SELECT
        issue_id, service, environment, toStartOfMinute(first) AS since,
        arrayJoin(routes) AS route
    FROM issues FINAL
    WHERE issue_id IN {issues:Array(String)}
) AS wanted
INNER JOIN
(
    SELECT minute, service, environment, route, max(rubric_records) AS records
    FROM
    (
        SELECT
            minute, service, environment, route, rubric,
            sum(n + not_applicable + absent) AS rubric_records
        FROM rollups FINAL
        WHERE minute >= toDateTime({now:UInt32}, 'UTC') - INTERVAL 1 DAY
            AND minute <= toDateTime({now:UInt32}, 'UTC')
            -- Of one route's issues, not those of all routes.
            AND (service, environment, route) IN
            (
                SELECT service, environment, arrayJoin(routes)
                FROM issues FINAL
                WHERE issue_id IN {issues:Array(String)}
            )
        GROUP BY minute, service, environment, route, rubric
    )
    GROUP BY minute, service, environment, route
) AS counted USING (service, environment, route)
WHERE counted.minute >= wanted.since
GROUP BY issue_id
