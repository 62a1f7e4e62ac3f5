-- Hours whose roll-ups are newer than a version.
SELECT DISTINCT toUnixTimestamp(toStartOfHour(minute)) AS hour
FROM rollups
WHERE rollups.version > {version:UInt64}
