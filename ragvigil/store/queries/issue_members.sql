-- Members of an issue, the newest first.
SELECT
    trace_id, record_id,
    failed.service AS service, failed.environment AS environment, failed.route AS route,
    failed.kind AS kind, failed.family AS family, failed.rubric AS rubric, failed.label AS label,
    failed.rubrics AS rubrics, failed.reason AS reason, failed.question AS question,
    failed.scorer_kind AS scorer_kind, failed.stream AS stream,
    failed.inclusion_probability AS inclusion_probability,
    failed.service_version AS service_version, failed.prompt_version AS prompt_version,
    failed.index_epoch AS index_epoch, failed.llm_model AS llm_model,
    held.by AS by, held.strength AS strength,
    held.other_issues AS other_issues, held.other_strengths AS other_strengths,
    toUnixTimestamp64Nano(failed.time) AS time_nanos
FROM
(
    SELECT trace_id, record_id, by, strength, other_issues, other_strengths
    FROM memberships FINAL
    WHERE issue_id = {issue_id:String}
) AS held
INNER JOIN
(
    SELECT *
    FROM failures FINAL
    WHERE failures.time < fromUnixTimestamp64Nano({before:Int64}, 'UTC')
) AS failed USING (trace_id, record_id)
ORDER BY failed.time DESC, trace_id, record_id
LIMIT {limit:UInt32}
