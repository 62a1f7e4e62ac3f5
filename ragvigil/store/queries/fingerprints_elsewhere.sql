-- What the records of some minutes that others stored show of their service's setup, oldest first.
WITH elsewhere AS
(
    SELECT *
    FROM records FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
        AND toUnixTimestamp(minute) IN {minutes:Array(UInt32)}
        AND gone = 0 AND replica != {replica:String}
    ORDER BY time
    LIMIT {each:UInt32} BY minute, service, environment, route
    LIMIT {limit:UInt32}
)
@setup_columns
FROM elsewhere
ORDER BY time_nanos, trace_id, record_id
