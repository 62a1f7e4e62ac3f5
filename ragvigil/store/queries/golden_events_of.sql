-- What was done to one golden case, oldest first.
SELECT case_id, verb, revision, actor, text, toUnixTimestamp64Nano(time) AS time_nanos
FROM golden_events FINAL
WHERE case_id = {case_id:String}
ORDER BY golden_events.time, verb
