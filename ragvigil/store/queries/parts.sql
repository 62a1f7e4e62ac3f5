-- Rows and bytes of each partition.
SELECT table, partition_id, sum(rows) AS rows, sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE database = currentDatabase() AND active
GROUP BY table, partition_id
ORDER BY partition_id
