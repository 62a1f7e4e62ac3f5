-- Reports on one issue, newest first.
SELECT *
FROM root_causes FINAL
WHERE issue_id = {issue_id:String}
ORDER BY time DESC
LIMIT {limit:UInt32}
