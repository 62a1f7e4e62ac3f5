-- The measures that records fail by.
SELECT trace_id, record_id, measure AS rubric, label, value
FROM
(
    @measured
)
WHERE trace_id IN {trace_ids:Array(String)}
ORDER BY trace_id, record_id, rubric
