-- Frames after `seq` that have a row, as counted when each was settled last.
SELECT seq, argMax(ledger.spans, epoch) AS spans
FROM ledger
WHERE replica = {replica:String} AND seq > {seq:UInt64}
GROUP BY seq
