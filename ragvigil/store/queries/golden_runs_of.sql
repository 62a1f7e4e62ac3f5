-- The newest runs of one golden case, newest first.
SELECT *
FROM golden_runs FINAL
WHERE case_id = {case_id:String}
ORDER BY time DESC
LIMIT {limit:UInt32}
