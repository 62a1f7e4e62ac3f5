-- Minutes that were recomputed after a version: their records changed too.
SELECT toUnixTimestamp(minute) AS minute, max(rollups.version) AS version, count() AS rows
FROM rollups
WHERE rollups.version > {version:UInt64} AND minute >= toDateTime({first:UInt32}, 'UTC')
GROUP BY minute
ORDER BY minute
