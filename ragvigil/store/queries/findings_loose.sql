-- Findings that still last and whose incident was not written: a crash came between.
SELECT
    incident_id, finding_id, kind, service, environment, routes, signal, layer, causes,
    value, reference, low, high, n, traces, words,
    toUnixTimestamp64Nano(since) AS since_nanos,
    toUnixTimestamp64Nano(seen) AS seen_nanos,
    toUnixTimestamp64Nano(cleared) AS cleared_nanos
FROM findings FINAL
WHERE toUnixTimestamp64Nano(cleared) = 0
    AND incident_id NOT IN (SELECT incident_id FROM incidents)
ORDER BY findings.since, finding_id
