-- What was done to one incident, oldest first.
SELECT incident_id, verb, actor, text, toUnixTimestamp64Nano(time) AS time_nanos
FROM incident_events FINAL
WHERE incident_id = {incident_id:String}
ORDER BY incident_events.time, verb, actor, text
