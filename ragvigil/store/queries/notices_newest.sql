-- The newest changes of every route.
SELECT
    notice_id, kind, service, environment, route, requests, share, before, after, evidence,
    toUnixTimestamp64Nano(since) AS since_nanos,
    toUnixTimestamp64Nano(noticed) AS noticed_nanos
FROM notices FINAL
ORDER BY since DESC, notice_id
LIMIT {each:UInt32} BY service, environment, route
