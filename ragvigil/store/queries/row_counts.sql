-- Rows as they lie on disk, replaced ones included.
SELECT table, sum(rows) AS rows
FROM system.parts
WHERE database = currentDatabase() AND active
GROUP BY table
ORDER BY table
