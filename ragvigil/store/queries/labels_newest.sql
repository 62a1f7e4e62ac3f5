-- The newest labels of every rubric.
SELECT
    label_id, rubric, trace_id, record_id, value, label, labeller, source, comment,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM labels FINAL
ORDER BY labels.time DESC, label_id
LIMIT {each:UInt32} BY rubric
