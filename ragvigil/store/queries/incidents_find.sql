-- Incidents that match, newest first. `since`: those not resolved before it.
SELECT *
FROM incidents FINAL
WHERE (toUnixTimestamp64Nano(resolved) = 0 OR resolved >= toDateTime64({since:UInt32}, 9, 'UTC'))
    AND ({incident_id:String} = '' OR incident_id = {incident_id:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({state:String} = '' OR state = {state:String})
    AND ({expected:Bool} = 0 OR is_expected = 1)
ORDER BY opened DESC, incident_id
LIMIT {limit:UInt32}
