-- Frames after `seq` that have a row, as counted when each was settled last: one row, as no limit of rows may cut it.
SELECT groupArray(frame) AS frames, groupArray(counted) AS spans
FROM (
    SELECT seq AS frame, argMax(ledger.spans, epoch) AS counted
    FROM ledger
    WHERE replica = {replica:String} AND seq > {seq:UInt64}
    GROUP BY seq
)
