-- The findings of these incidents.
SELECT *
FROM findings FINAL
WHERE incident_id IN {incidents:Array(String)}
ORDER BY incident_id, since, finding_id
