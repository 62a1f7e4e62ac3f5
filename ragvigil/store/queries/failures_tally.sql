-- Failing records, counted by all that tells issues apart; `issue_id` is empty for those in no issue.
SELECT
    issue_id, service, environment, kind, family, rubric, label, route, service_version, index_epoch,
    stream, inclusion_probability,
    intDiv(toUnixTimestamp(failures.minute), {bin:UInt32}) * {bin:UInt32} AS start,
    count() AS records
FROM failures FINAL
LEFT JOIN
(
    SELECT minute, trace_id, record_id, issue_id
    FROM memberships FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND issue_id IN (SELECT issue_id FROM issues)
) AS placed USING (minute, trace_id, record_id)
WHERE failures.minute >= toDateTime({since:UInt32}, 'UTC')
    AND (empty({issue_ids:Array(String)}) OR issue_id IN {issue_ids:Array(String)})
    AND ({placed:String} != 'loose' OR issue_id = '')
GROUP BY ALL
ORDER BY start, issue_id, service, environment, route, family, rubric, label
