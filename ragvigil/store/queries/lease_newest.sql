-- The newest entries of the lease, with the server's time.
SELECT
    number, holder, epoch, address,
    toUnixTimestamp64Milli(until) AS until_ms, toUnixTimestamp64Milli(now64(3)) AS now_ms
FROM leases
ORDER BY number DESC, until DESC
LIMIT 20
