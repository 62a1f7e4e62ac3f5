-- The names of the series of a window, with the hash that `rollup_counts` gives. Grouped by the hash
-- alone: comparing six names a row takes twice the time.
SELECT
    cityHash64(
        rollups.service, rollups.environment, rollups.route,
        rollups.rubric, rollups.layer, rollups.segment
    ) AS id,
    any(rollups.service) AS service,
    any(rollups.environment) AS environment,
    any(rollups.route) AS route,
    any(rollups.rubric) AS rubric,
    any(rollups.layer) AS layer,
    any(rollups.segment) AS segment,
    -- Older rows have none.
    max(toString(rollups.kind)) AS kind
FROM
(
    SELECT service, environment, route, rubric, layer, segment, kind
    FROM rollups
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    UNION ALL
    SELECT service, environment, route, rubric, layer, segment, kind
    FROM proxy_rollups
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
) AS rollups
GROUP BY id
ORDER BY service, environment, route, layer, rubric, segment
