-- Incidents that match, newest first. `since`: those not resolved before it.
SELECT
    incident_id, service, environment, state, severity, suspects, cause, assignee,
    is_false_page, is_expected,
    toUnixTimestamp64Nano(opened) AS opened_nanos,
    toUnixTimestamp64Nano(since) AS since_nanos,
    toUnixTimestamp64Nano(paged) AS paged_nanos,
    toUnixTimestamp64Nano(resolved) AS resolved_nanos,
    toUnixTimestamp64Nano(snoozed_until) AS snoozed_nanos
FROM incidents FINAL
WHERE (toUnixTimestamp64Nano(resolved) = 0 OR resolved >= toDateTime64({since:UInt32}, 9, 'UTC'))
    AND ({incident_id:String} = '' OR incident_id = {incident_id:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({state:String} = '' OR state = {state:String})
    AND ({expected:Bool} = 0 OR is_expected = 1)
ORDER BY opened DESC, incident_id
LIMIT {limit:UInt32}
