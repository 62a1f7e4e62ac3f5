-- Hours with scores since a time.
SELECT DISTINCT intDiv(toUnixTimestamp(minute), 3600) * 3600 AS hour
FROM scores
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
ORDER BY hour
