-- Hours with roll-ups whose slices were never summed, the newest first.
SELECT DISTINCT toUnixTimestamp(toStartOfHour(minute)) AS hour
FROM rollups
WHERE minute >= toDateTime({first:UInt32}, 'UTC')
    AND toStartOfHour(minute) NOT IN (SELECT start FROM slice_sums)
ORDER BY hour DESC
