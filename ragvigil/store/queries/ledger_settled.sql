SELECT DISTINCT seq FROM ledger WHERE replica = {replica:String} AND seq > {seq:UInt64}
