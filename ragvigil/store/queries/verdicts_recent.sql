-- Values of judges since a time, and what code and models said of the same records and rubrics.
SELECT
    trace_id, record_id, rubric, kind, value, scorer, service, route,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM scores FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND value IS NOT NULL
    AND (trace_id, rubric) IN
    (
        SELECT trace_id, rubric FROM scores
        WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind = 'judge' AND value IS NOT NULL
        ORDER BY minute DESC, trace_id
        LIMIT {limit:UInt32}
    )
ORDER BY scores.time DESC, trace_id, record_id, rubric, kind, scorer
