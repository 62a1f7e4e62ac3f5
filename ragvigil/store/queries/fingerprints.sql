-- What the newest records of every route show of their service's setup, oldest first; without those
-- of the writer that asks.
WITH newest AS
(
    SELECT *
    FROM records FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND NOT (replica = {replica:String} AND epoch = {epoch:UInt32})
    ORDER BY time DESC
    LIMIT {each:UInt32} BY service, environment, route
    LIMIT {limit:UInt32}
)
@setup_columns
FROM newest
ORDER BY time_nanos, trace_id, record_id
