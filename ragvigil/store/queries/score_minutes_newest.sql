-- Minutes of scores received in the hour before the newest was, in one row: a backup that was made
-- while they were written may have their roll-ups without some of them.
SELECT arraySort(groupUniqArray(toUnixTimestamp(minute))) AS minutes
FROM scores
WHERE received >= (SELECT max(received) FROM scores) - INTERVAL 1 HOUR
