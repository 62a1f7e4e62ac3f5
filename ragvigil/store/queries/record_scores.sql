-- All scores of these records, as placed by `record_rows.sql`.
SELECT
    trace_id, record_id, rubric, layer, value, label, explanation, scorer, version, segment, kind,
    stream, absent, failed, details
FROM scores FINAL
PREWHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
WHERE toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
ORDER BY layer, rubric, scorer, segment, stream
