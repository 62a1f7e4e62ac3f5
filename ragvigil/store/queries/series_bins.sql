-- Sums of some series by bins of time, of the first `day_seconds` of every day after `first`. Of one
-- route, `series_bins_of_route` reads them faster.
SELECT
    service, environment, route, rubric, toString(layer) AS layer, segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(rollups.n) AS n, sum(rollups.total) AS total, sum(rollups.squares) AS squares,
    sum(rollups.failed) AS failed,
    sumMap(if({with_labels:UInt8} = 1, labels, CAST(map(), 'Map(String, UInt64)'))) AS labels
FROM rollups FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND (toUnixTimestamp(minute) - {first:UInt32}) % 86400 < {day_seconds:UInt32}
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND (empty({rubrics:Array(String)}) OR rubric IN {rubrics:Array(String)})
GROUP BY service, environment, route, rubric, layer, segment, start
ORDER BY service, environment, route, layer, rubric, segment, start
