-- Incidents that match, newest first. `since`: those not resolved before it; with `lasting` also
-- those that a person called none while a finding of theirs goes on.
SELECT *
FROM incidents FINAL
WHERE
    (
        toUnixTimestamp64Nano(resolved) = 0
        OR resolved >= toDateTime64({since:UInt32}, 9, 'UTC')
        OR (
            {lasting:Bool} = 1
            AND incident_id IN
            (
                SELECT incident_id
                FROM findings FINAL
                WHERE toUnixTimestamp64Nano(cleared) = 0
            )
        )
    )
    AND ({incident_id:String} = '' OR incident_id = {incident_id:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({state:String} = '' OR state = {state:String})
    AND ({expected:Bool} = 0 OR is_expected = 1)
ORDER BY opened DESC, incident_id
LIMIT {limit:UInt32}
