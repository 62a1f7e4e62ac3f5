-- The newest runs of golden sets, or the one of an id.
SELECT
    run_id, max(ran) AS ran, any(set_name) AS set_name, any(set_hash) AS set_hash,
    any(target) AS target, any(release) AS release, any(sender) AS sender,
    uniqExact(case_id) AS cases, countIf(rubric = '' AND value = 0) AS failed
FROM offline_scores FINAL
WHERE {run_id:String} = '' OR run_id = {run_id:String}
GROUP BY run_id
ORDER BY ran DESC, run_id
LIMIT {limit:UInt32}
