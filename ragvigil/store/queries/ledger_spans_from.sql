-- Spans of the frames in a range, as counted when each was settled last.
SELECT sum(spans) AS spans
FROM ledger FINAL
WHERE replica = {replica:String} AND seq >= {seq:UInt64} AND seq < {until:UInt64}
