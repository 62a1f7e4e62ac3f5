-- Counts of each series by bins of time. Grouping by one hash takes half the time of grouping by
-- six names, which `rollup_series` gives once a series.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(rollups.n) AS n,
    sum(rollups.total) AS total,
    sum(rollups.squares) AS squares,
    sum(rollups.failed) AS failed,
    sum(rollups.absent) AS absent,
    sum(rollups.not_applicable) AS not_applicable
FROM
(
    @all_rollups
) AS rollups
GROUP BY series, start
