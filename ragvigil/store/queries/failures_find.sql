-- Failing records and the issue that each is in, if any: oldest first, or newest first. A membership
-- counts only if its issue is stored: issues are written last, and a crash may come before them.
SELECT
    failures.* EXCEPT (reason_vector, question_vector),
    issue_id, by, strength, other_issues, other_strengths
FROM failures FINAL
LEFT JOIN
(
    SELECT
        minute, trace_id, record_id, issue_id, by, strength, other_issues, other_strengths
    FROM memberships FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND minute < toDateTime({until:UInt32}, 'UTC')
        AND issue_id IN (SELECT issue_id FROM issues)
) AS placed USING (minute, trace_id, record_id)
WHERE failures.minute >= toDateTime({since:UInt32}, 'UTC')
    AND failures.minute < toDateTime({until:UInt32}, 'UTC')
    AND (empty({trace_ids:Array(String)}) OR failures.trace_id IN {trace_ids:Array(String)})
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND ({family:String} = '' OR family = {family:String})
    AND ({route:String} = '' OR route = {route:String})
    AND ({rubric:String} = '' OR rubric = {rubric:String})
    AND ({label:String} = '' OR label = {label:String})
    AND (empty({issue_ids:Array(String)}) OR issue_id IN {issue_ids:Array(String)})
    AND ({without_vectors_of:String} = '' OR vector_model != {without_vectors_of:String})
    AND ({placed:String} != 'loose' OR issue_id = '')
    AND
    (
        {placed:String} != 'residue'
        OR issue_id = ''
        OR issue_id IN (SELECT issue_id FROM issues FINAL WHERE is_provisional = 1 AND merged_into = '')
    )
    AND
    (
        {after_trace_id:String} = ''
        OR (toUnixTimestamp64Nano(failures.time) * if({newest_first:Bool}, -1, 1), trace_id, record_id)
            > (
                {after:Int64} * if({newest_first:Bool}, -1, 1),
                {after_trace_id:String},
                {after_record_id:String}
            )
    )
ORDER BY
    toUnixTimestamp64Nano(failures.time) * if({newest_first:Bool}, -1, 1),
    trace_id,
    record_id
LIMIT {limit:UInt32}
