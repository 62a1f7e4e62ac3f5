-- Minutes whose counts a replica replaced after the version of it that was seen; a row a replica.
SELECT
    replica, max(kept.version) AS version,
    arraySort(groupUniqArray(toUnixTimestamp(minute))) AS minutes
FROM {table:Identifier} AS kept
WHERE kept.version > {versions:Array(UInt64)}[indexOf({replicas:Array(String)}, replica)]
    AND minute >= toDateTime({first:UInt32}, 'UTC')
GROUP BY replica
