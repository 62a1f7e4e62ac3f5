-- Changes that began since a time, newest first; of one service or route where one is named.
SELECT
    notice_id, kind, service, environment, route, requests, share, before, after, evidence,
    toUnixTimestamp64Nano(since) AS since_nanos,
    toUnixTimestamp64Nano(noticed) AS noticed_nanos
FROM notices FINAL
WHERE since >= toDateTime64({since:UInt32}, 9, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} = '' OR route = {route:String})
ORDER BY since DESC, notice_id
LIMIT {limit:UInt32}
