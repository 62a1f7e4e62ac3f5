-- The newest live record and how many came since a time, on how many routes. FINAL costs less than
-- a set of ids.
SELECT
    toUnixTimestamp(max(received)) AS last,
    count() AS records,
    uniqExact(cityHash64(service, environment, route)) AS routes
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND backfill = '' AND gone = 0
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} = '' OR route = {route:String})
