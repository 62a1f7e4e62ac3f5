-- Failing records since a time that are worth reading: one of each cause, the most frequent cause
-- first, then a second one of each. A cause is an issue, or where there is none, what failed first.
SELECT
    service, environment, route, rubric, label, trace_id, record_id,
    toUnixTimestamp(minute) AS seconds, ifNull(question, '') AS question, reason, issue_id,
    ifNull(name, '') AS issue, toUInt64(failing) AS failing
FROM
(
    SELECT
        *,
        row_number() OVER (PARTITION BY cause ORDER BY minute DESC, trace_id, record_id) AS turn,
        count() OVER (PARTITION BY cause) AS failing
    FROM
    (
        SELECT
            failures.minute AS minute, failures.trace_id AS trace_id,
            failures.record_id AS record_id, failures.service AS service,
            failures.environment AS environment, failures.route AS route,
            failures.rubric AS rubric, failures.label AS label, question, reason,
            placed.issue_id AS issue_id, issues.name AS name,
            if(
                placed.issue_id != '', placed.issue_id,
                concat(failures.service, ' ', failures.environment, ' ', failures.rubric, ' ', failures.label)
            ) AS cause
        FROM failures FINAL
        LEFT JOIN
        (
            SELECT trace_id, record_id, issue_id
            FROM memberships FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        ) AS placed
            ON placed.trace_id = failures.trace_id AND placed.record_id = failures.record_id
        LEFT JOIN (SELECT issue_id, name FROM issues FINAL) AS issues
            ON issues.issue_id = placed.issue_id
        WHERE failures.minute >= toDateTime({since:UInt32}, 'UTC')
            AND ({service:String} = '' OR failures.service = {service:String})
            AND ({environment:String} = '' OR failures.environment = {environment:String})
    )
)
ORDER BY turn, failing DESC, cause
LIMIT {limit:UInt32}
