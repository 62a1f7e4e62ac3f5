-- The newest runs of one golden case, newest first.
SELECT case_id, against, is_pass, why, answer, toUnixTimestamp64Nano(time) AS time_nanos
FROM golden_runs FINAL
WHERE case_id = {case_id:String}
ORDER BY golden_runs.time DESC
LIMIT {limit:UInt32}
