-- All verdicts of one audit, pair by pair; `before` comes before `after`.
SELECT *
FROM audit_scores FINAL
WHERE audit_id = {audit_id:String}
ORDER BY pair, side DESC, rubric
