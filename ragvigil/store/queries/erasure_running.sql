-- Changes of these tables that are not done, and the parts that they replaced and that still lie on disk.
SELECT table, latest_fail_reason AS problem, 1 AS is_change
FROM system.mutations
WHERE database = currentDatabase() AND NOT is_done AND table IN {tables:Array(String)}
UNION ALL
SELECT table, '' AS problem, 0 AS is_change
FROM system.parts
WHERE database = currentDatabase() AND NOT active AND table IN {tables:Array(String)}
