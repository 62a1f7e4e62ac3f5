-- Minutes of scores received since a time, in one row: there may be more of them than a query may
-- return rows. The day of `received` is the partition, so that others are not read.
SELECT arraySort(groupUniqArray(toUnixTimestamp(minute))) AS minutes
FROM scores
WHERE toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
    AND received >= toDateTime({received:UInt32}, 'UTC')
