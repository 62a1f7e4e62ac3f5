-- Issues with an answer of these traces: reports on their causes quote answers.
SELECT DISTINCT cityHash64(issue_id) AS hash
FROM memberships
WHERE cityHash64(trace_id) IN {hashes:Array(UInt64)}
