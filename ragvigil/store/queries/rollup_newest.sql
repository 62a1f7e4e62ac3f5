-- The newest version of the roll-ups, a time in nanoseconds, and never a time ahead; 0 without any.
SELECT least(max(rollups.version), toUInt64(toUnixTimestamp64Nano(now64(9)))) AS version
FROM rollups
