-- Audits that started since a time, newest first; of one service where one is named.
SELECT
    audit_id, service, environment, routes, since, sources, reason, causes, state, pairs, results,
    progress, why,
    toUnixTimestamp64Nano(anchor) AS anchor_nanos,
    toUnixTimestamp64Nano(started) AS started_nanos,
    toUnixTimestamp64Nano(ended) AS ended_nanos
FROM audits FINAL
WHERE started >= toDateTime64({since:UInt32}, 9, 'UTC')
    AND ({audit_id:String} = '' OR audit_id = {audit_id:String})
    AND ({service:String} = '' OR service = {service:String})
ORDER BY started DESC, audit_id
LIMIT {limit:UInt32}
