-- What was done to one issue, oldest first.
SELECT issue_id, verb, actor, text, toUnixTimestamp64Nano(time) AS time_nanos
FROM issue_events FINAL
WHERE issue_id = {issue_id:String}
ORDER BY issue_events.time, verb, actor, text
