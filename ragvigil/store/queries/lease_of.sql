-- What lies under a number of the lease: one entry, or two that were added at the same time.
SELECT
    number, holder, epoch, address,
    toUnixTimestamp64Milli(until) AS until_ms, toUnixTimestamp64Milli(now64(3)) AS now_ms
FROM leases
WHERE number = {number:UInt64}
