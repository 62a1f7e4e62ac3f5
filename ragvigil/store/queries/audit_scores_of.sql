-- Every verdict of one audit, pair by pair.
SELECT
    pair, side, likeness, trace_id, record_id, route, rubric, layer, value, label, scorer, version
FROM audit_scores FINAL
WHERE audit_id = {audit_id:String}
ORDER BY pair, side DESC, rubric
