FROM records FINAL
PREWHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND (empty({record_ids:Array(String)}) OR record_id IN {record_ids:Array(String)})
WHERE toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
ORDER BY started, record_id
