-- What was done to one golden case, oldest first.
SELECT *
FROM golden_events FINAL
WHERE case_id = {case_id:String}
ORDER BY time, verb
