-- The minutes whose roll-ups are newer than a version, and the newest minute of all.
SELECT
    toUnixTimestamp(minIf(minute, version > {version:UInt64})) AS first,
    toUnixTimestamp(maxIf(minute, version > {version:UInt64})) AS last,
    countIf(version > {version:UInt64}) AS changed,
    toUnixTimestamp(max(minute)) AS newest
FROM rollups
