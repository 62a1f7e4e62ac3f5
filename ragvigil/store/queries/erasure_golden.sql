-- Golden cases made of these traces; those in the set are a person's to decide.
SELECT case_id, cityHash64(case_id) AS hash, countIf(state IN ('signed', 'passing')) > 0 AS is_in_set
FROM golden_cases
WHERE cityHash64(trace_id) IN {hashes:Array(UInt64)}
GROUP BY case_id
ORDER BY case_id
