-- Members of each issue by inclusion probability, how many came on each of the last days (UTC), today
-- first, and how many in the last 24 hours.
SELECT
    issue_id, stream, inclusion_probability,
    count() AS members,
    countResample(0, {days:UInt8}, 1)(
        1, dateDiff('day', failed.time, toDateTime({now:UInt32}, 'UTC'), 'UTC')
    ) AS days,
    countIf(failed.time > toDateTime({now:UInt32}, 'UTC') - INTERVAL 1 DAY) AS last_day
FROM
(
    SELECT trace_id, record_id, issue_id
    FROM memberships FINAL
    WHERE issue_id IN {issues:Array(String)}
) AS held
INNER JOIN
(
    SELECT trace_id, record_id, stream, inclusion_probability, failures.time AS time
    FROM failures FINAL
) AS failed USING (trace_id, record_id)
GROUP BY issue_id, stream, inclusion_probability
ORDER BY issue_id, stream, inclusion_probability
