-- What `series_bins` gives, of one route.
SELECT
    service, environment, route, rubric, toString(layer) AS layer, segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(newest.n) AS n, sum(newest.total) AS total, sum(newest.squares) AS squares,
    sum(newest.failed) AS failed,
    sumMap(if({with_labels:UInt8} = 1, labels, CAST(map(), 'Map(String, UInt64)'))) AS labels
FROM
(
    @route_rollups
) AS newest
WHERE (toUnixTimestamp(minute) - {first:UInt32}) % 86400 < {day_seconds:UInt32}
GROUP BY service, environment, route, rubric, layer, segment, start
ORDER BY service, environment, route, layer, rubric, segment, start
