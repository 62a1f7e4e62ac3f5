-- The first ids of incidents that begin with a text, in order.
SELECT DISTINCT incident_id AS id
FROM incidents
WHERE startsWith(incident_id, {prefix:String})
ORDER BY id
LIMIT {limit:UInt32}
