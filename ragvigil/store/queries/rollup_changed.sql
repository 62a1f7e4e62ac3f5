-- Minutes that were recomputed after a version, as a range, and the newest version. Without FINAL:
-- replaced rows are of the same minutes.
SELECT
    count() AS rows,
    toUnixTimestamp(min(minute)) AS first,
    toUnixTimestamp(max(minute)) AS last,
    max(rollups.version) AS version
FROM rollups
WHERE rollups.version > {version:UInt64}
