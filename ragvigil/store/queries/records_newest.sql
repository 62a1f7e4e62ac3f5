-- The minute of the oldest of so many newest records of a place, and whether there are older ones.
-- Without FINAL: only the key is read, and a row that waits to be merged counts too.
SELECT toUnixTimestamp(min(minute)) AS minute_seconds, count() AS answers
FROM
(
    SELECT minute
    FROM records
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND minute < toDateTime({until:UInt32}, 'UTC')
        AND minute <= toDateTime({latest:UInt32}, 'UTC')
        AND ({service:String} = '' OR service = {service:String})
        AND ({environment:String} = '' OR environment = {environment:String})
        AND ({route:String} = '' OR route = {route:String})
    ORDER BY minute DESC
    LIMIT {most:UInt32}
)
