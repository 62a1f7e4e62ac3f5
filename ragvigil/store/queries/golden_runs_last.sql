-- The newest runs of every golden case, newest first, without the answers.
SELECT * REPLACE ('' AS answer)
FROM golden_runs FINAL
ORDER BY case_id, time DESC
LIMIT {each:UInt32} BY case_id
