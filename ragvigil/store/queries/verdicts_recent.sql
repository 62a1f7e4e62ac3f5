-- Values of judges since a time, and those of code and models for the same records and rubrics.
-- Minutes and trace ids are a prefix of the key: FINAL merges only these rows.
WITH judged AS
(
    SELECT minute, trace_id, rubric FROM scores
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind = 'judge' AND value IS NOT NULL
    ORDER BY minute DESC, trace_id
    LIMIT {limit:UInt32}
)
SELECT
    trace_id, record_id, rubric, kind, value, scorer, service, route,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM scores FINAL
WHERE (minute, trace_id) IN (SELECT minute, trace_id FROM judged)
    AND (trace_id, rubric) IN (SELECT trace_id, rubric FROM judged)
    AND value IS NOT NULL
ORDER BY scores.time DESC, trace_id, record_id, rubric, kind, scorer
