-- Tombstones over the memberships of these records, as in `bury_failures.sql`.
INSERT INTO memberships
SELECT * REPLACE (toUInt8(1) AS is_gone, fromUnixTimestamp64Nano({written:Int64}, 'UTC') AS written)
FROM memberships FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND has({keys:Array(String)}, concat(trace_id, ' ', record_id))
