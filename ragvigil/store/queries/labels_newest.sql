-- The newest labels of every rubric that say something of the answer: "unsure" and a label that was
-- taken back do not.
SELECT *
FROM labels FINAL
WHERE value IS NOT NULL OR label NOT IN ('', {unsure:String})
ORDER BY time DESC, label_id
LIMIT {each:UInt32} BY rubric
