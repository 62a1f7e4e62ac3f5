-- Reports on one issue, newest first.
SELECT
    issue_id, by, cause, ended, layer, fix, quotes, grades, text, transcript, turns, cost_usd,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM root_causes FINAL
WHERE issue_id = {issue_id:String}
ORDER BY root_causes.time DESC
LIMIT {limit:UInt32}
