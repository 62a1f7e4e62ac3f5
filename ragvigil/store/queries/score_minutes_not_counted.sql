-- Minutes with scores that no roll-up has counted, whenever they came, in one row: after an import
-- there may be more of them than a query may return rows.
SELECT arraySort(groupUniqArray(toUnixTimestamp(minute))) AS minutes
FROM scores
WHERE gone = 0
    AND
    (
        (stream = 'base' AND minute NOT IN (SELECT minute FROM rollups))
        OR (stream = 'proxy' AND minute NOT IN (SELECT minute FROM proxy_rollups))
    )
