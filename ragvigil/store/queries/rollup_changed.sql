SELECT
    count() AS rows,
    toUnixTimestamp(min(minute)) AS first,
    toUnixTimestamp(max(minute)) AS last,
    max(rollups.version) AS version
FROM rollups
WHERE rollups.version > {version:UInt64}
