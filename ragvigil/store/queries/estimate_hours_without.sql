-- Hours with roll-ups whose answers were never summed, the newest first.
SELECT DISTINCT toUnixTimestamp(toStartOfHour(minute)) AS hour
FROM rollups
WHERE minute >= toDateTime({first:UInt32}, 'UTC')
    AND toStartOfHour(minute) NOT IN (SELECT toStartOfHour(start) FROM question_sums)
ORDER BY hour DESC
