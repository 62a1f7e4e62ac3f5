-- The newest run of every golden case.
SELECT case_id, against, is_pass, why, answer, toUnixTimestamp64Nano(time) AS time_nanos
FROM golden_runs FINAL
ORDER BY case_id, golden_runs.time DESC
LIMIT 1 BY case_id
