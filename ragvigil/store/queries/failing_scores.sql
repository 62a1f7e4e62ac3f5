-- Scores under the bars of their rubrics. Local models and other streams than these fail nothing.
SELECT
    trace_id, record_id, rubric, layer, value, label, explanation, scorer, version, kind, stream,
    inclusion_probability, details
FROM scores FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND kind != 'model' AND stream IN ('base', 'boost', 'suspicious')
    AND value < transform(toString(rubric), {rubrics:Array(String)}, {bars:Array(Float64)}, 0.)
ORDER BY layer, rubric, scorer, segment, stream
