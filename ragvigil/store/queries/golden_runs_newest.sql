-- The newest run of every golden case.
SELECT *
FROM golden_runs FINAL
ORDER BY case_id, time DESC
LIMIT 1 BY case_id
