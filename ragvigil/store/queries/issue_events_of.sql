-- What was done to one issue, oldest first.
SELECT *
FROM issue_events FINAL
WHERE issue_id = {issue_id:String}
ORDER BY time, verb, actor, text
