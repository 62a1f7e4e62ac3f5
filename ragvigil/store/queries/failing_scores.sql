-- The scores that records fail by.
SELECT
    trace_id, record_id, rubric, layer, value, label, explanation, scorer, version, kind, stream,
    inclusion_probability, details
FROM scores FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND
    (
        @failing
    )
ORDER BY layer, rubric, scorer, segment, stream
