-- Counts of each label of a series by bins of time.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    pair.1 AS label,
    sum(pair.2) AS records
FROM
(
    @all_rollups
) AS rollups
ARRAY JOIN CAST(labels, 'Array(Tuple(String, UInt64))') AS pair
GROUP BY series, start, label
ORDER BY series, label, start
