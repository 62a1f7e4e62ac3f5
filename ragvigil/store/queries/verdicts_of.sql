-- Verdicts of judges on these traces. Minutes and trace ids are a prefix of the key.
SELECT
    trace_id, record_id, rubric, segment, scorer, version, stream, value, label, service, route,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM scores FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
    AND kind = 'judge' AND absent = ''
    AND rubric IN {rubrics:Array(String)}
ORDER BY trace_id, record_id, rubric, segment, stream
