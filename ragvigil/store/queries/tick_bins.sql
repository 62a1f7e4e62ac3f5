-- Counts per series and 5 minutes.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), 300) * 300 AS bin,
    sum(n) AS n,
    sum(total) AS total,
    sum(squares) AS squares,
    sum(failed) AS failed,
    sum(absent) AS absent
FROM rollups FINAL
WHERE minute >= toDateTime({start:UInt32}) AND minute < toDateTime({end:UInt32})
GROUP BY series, bin
