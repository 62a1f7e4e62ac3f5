-- What was done to one incident, oldest first.
SELECT *
FROM incident_events FINAL
WHERE incident_id = {incident_id:String}
ORDER BY time, verb, actor, text
