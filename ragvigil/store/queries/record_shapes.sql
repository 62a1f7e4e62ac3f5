-- The measurements of these records, as placed by `record_rows.sql`.
SELECT trace_id, record_id, measures
FROM record_shapes FINAL
PREWHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
WHERE toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
