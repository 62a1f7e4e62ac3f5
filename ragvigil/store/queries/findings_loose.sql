-- Findings that still last and whose incident was not written: a crash came between.
SELECT *
FROM findings FINAL
WHERE toUnixTimestamp64Nano(cleared) = 0
    AND incident_id NOT IN (SELECT incident_id FROM incidents)
ORDER BY since, finding_id
