-- Minutes of scores received since a time. The day of `received` is the partition, so that others
-- are not read.
SELECT DISTINCT toUnixTimestamp(minute) AS minute
FROM scores
WHERE toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
    AND received >= toDateTime({received:UInt32}, 'UTC')
ORDER BY minute
