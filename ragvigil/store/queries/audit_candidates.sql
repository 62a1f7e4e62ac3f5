-- Records that an audit may judge, in a random order that is the same each time. `since` and `until`
-- are nanoseconds within the minutes of the first two bounds, which are a prefix of the key. History
-- that was imported or replayed counts: it may be all there is from before a change.
SELECT trace_id, record_id, toString(route) AS route, ifNull(query, '') AS query
FROM records FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
    AND query IS NOT NULL AND answer IS NOT NULL
    AND (empty({routes:Array(String)}) OR has({routes:Array(String)}, toString(route)))
    AND toUnixTimestamp64Nano(time) >= if(
        empty({routes:Array(String)}),
        {since:Int64},
        transform(toString(route), {routes:Array(String)}, {sinces:Array(Int64)}, {since:Int64})
    )
    AND toUnixTimestamp64Nano(time) < {until:Int64}
ORDER BY cityHash64(trace_id, record_id)
LIMIT {limit:UInt32}
