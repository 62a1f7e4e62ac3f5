-- The series with roll-ups in a range, each with the number that stands for it in tick_bins.
SELECT DISTINCT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    service, environment, route, rubric, layer, segment
FROM rollups
WHERE minute >= toDateTime({start:UInt32}) AND minute < toDateTime({end:UInt32})
ORDER BY service, environment, route, rubric, layer, segment
