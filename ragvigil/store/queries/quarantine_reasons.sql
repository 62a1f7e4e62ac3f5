-- Rows that the database refused since a time, by table and reason.
SELECT table, reason, count() AS rows, max(time) AS last
FROM quarantine
WHERE time >= toDateTime64({since:UInt32}, 9, 'UTC')
GROUP BY table, reason
ORDER BY rows DESC, table, reason
LIMIT {limit:UInt32}
