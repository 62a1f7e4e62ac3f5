-- The newest labels of every rubric.
SELECT *
FROM labels FINAL
ORDER BY time DESC, label_id
LIMIT {each:UInt32} BY rubric
