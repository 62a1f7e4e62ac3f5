-- The findings of these incidents.
SELECT
    incident_id, finding_id, kind, service, environment, routes, signal, layer, causes,
    value, reference, low, high, n, traces, words,
    toUnixTimestamp64Nano(since) AS since_nanos,
    toUnixTimestamp64Nano(seen) AS seen_nanos,
    toUnixTimestamp64Nano(cleared) AS cleared_nanos
FROM findings FINAL
WHERE incident_id IN {incidents:Array(String)}
ORDER BY incident_id, findings.since, finding_id
