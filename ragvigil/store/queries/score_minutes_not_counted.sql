-- Minutes with scores that no roll-up has counted, whenever they came.
SELECT DISTINCT toUnixTimestamp(minute) AS minute
FROM scores
WHERE gone = 0
    AND
    (
        (stream = 'base' AND minute NOT IN (SELECT minute FROM rollups))
        OR (stream = 'proxy' AND minute NOT IN (SELECT minute FROM proxy_rollups))
    )
ORDER BY minute
