-- Tombstones over the rows of records that no longer fail. A later `written` replaces a row, and
-- FINAL leaves out rows with `is_gone`.
INSERT INTO failures
SELECT * REPLACE (toUInt8(1) AS is_gone, toUInt64(0) AS digest, fromUnixTimestamp64Nano({written:Int64}, 'UTC') AS written)
FROM failures FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND has({keys:Array(String)}, concat(trace_id, ' ', record_id))
