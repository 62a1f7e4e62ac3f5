-- When the newest report on each issue was written, and how often a model ran on it since a time.
SELECT
    issue_id,
    toUnixTimestamp64Nano(max(root_causes.time)) AS newest,
    countIf(turns > 0 AND root_causes.time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')) AS runs
FROM root_causes FINAL
GROUP BY issue_id
