-- Records on the routes of each issue in the last 24 hours, from the minute of its first member.
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
    SELECT minute, service, environment, route, count() AS records
    FROM records FINAL
    WHERE minute >= toDateTime({now:UInt32}, 'UTC') - INTERVAL 1 DAY
        AND minute <= toDateTime({now:UInt32}, 'UTC')
    GROUP BY minute, service, environment, route
) AS counted USING (service, environment, route)
WHERE counted.minute >= wanted.since
GROUP BY issue_id
