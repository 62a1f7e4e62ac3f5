-- Ids that begin with a text, at most two of each kind, in order.
SELECT 'traces' AS kind, id FROM (SELECT DISTINCT trace_id AS id FROM traces WHERE startsWith(trace_id, {prefix:String}) ORDER BY id LIMIT 2)
UNION ALL
SELECT 'records', id FROM (SELECT DISTINCT record_id AS id FROM records WHERE startsWith(record_id, {prefix:String}) AND gone = 0 ORDER BY id LIMIT 2)
UNION ALL
SELECT 'issues', id FROM (SELECT DISTINCT issue_id AS id FROM issues WHERE startsWith(issue_id, {prefix:String}) ORDER BY id LIMIT 2)
UNION ALL
SELECT 'incidents', id FROM (SELECT DISTINCT incident_id AS id FROM incidents WHERE startsWith(incident_id, {prefix:String}) ORDER BY id LIMIT 2)
UNION ALL
SELECT 'golden', id FROM (SELECT DISTINCT case_id AS id FROM golden_cases WHERE startsWith(case_id, {prefix:String}) ORDER BY id LIMIT 2)
