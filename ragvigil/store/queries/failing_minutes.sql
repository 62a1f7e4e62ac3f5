-- Minutes whose scores changed after a version, with the newest version of each. Without FINAL: only
-- the newest version counts.
SELECT toUnixTimestamp(rollups.minute) AS minute, max(rollups.version) AS version
FROM rollups
WHERE rollups.version > {version:UInt64} AND rollups.minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY minute
ORDER BY minute
