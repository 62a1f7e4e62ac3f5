-- Frames after `seq` that have a row. DISTINCT instead of FINAL: only their numbers are read.
SELECT DISTINCT seq FROM ledger WHERE replica = {replica:String} AND seq > {seq:UInt64}
