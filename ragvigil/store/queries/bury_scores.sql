-- Tombstones over the rows of records that the new generation of their trace lacks. FINAL leaves out
-- rows with `gone`.
INSERT INTO scores
SELECT * REPLACE (1 AS gone, {generation:UInt32} AS generation)
FROM scores FINAL
WHERE minute = toDateTime({minute:UInt32}, 'UTC') AND trace_id = {trace_id:String}
    AND has({record_ids:Array(String)}, record_id)
