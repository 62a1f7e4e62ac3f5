-- The digests of the rows of some ticks, by series and window.
SELECT
    service, environment, route, rubric, toString(layer) AS layer, segment, window,
    groupArray(toUnixTimestamp(tick)) AS ticks, groupArray(digest) AS digests
FROM delta_changes FINAL
WHERE tick >= toDateTime({first:UInt32}, 'UTC') AND tick <= toDateTime({last:UInt32}, 'UTC')
GROUP BY service, environment, route, rubric, layer, segment, window
