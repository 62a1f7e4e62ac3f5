-- Counts of each label of a series by bins of time.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    pair.1 AS label,
    sum(pair.2) AS records
FROM rollups FINAL
ARRAY JOIN CAST(labels, 'Array(Tuple(String, UInt64))') AS pair
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
GROUP BY series, start, label
ORDER BY series, label, start
