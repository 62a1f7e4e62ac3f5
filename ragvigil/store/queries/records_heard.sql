-- The newest live record and how many came since a time, on how many routes. Without FINAL:
-- distinct keys are counted.
SELECT
    toUnixTimestamp(max(received)) AS last,
    uniqExact(trace_id, record_id) AS records,
    uniqExact(service, environment, route) AS routes
FROM records
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND backfill = '' AND gone = 0
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} = '' OR route = {route:String})
