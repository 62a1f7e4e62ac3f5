-- Records per label, series and 5 minutes, of rubrics whose labels are followed as rates.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), 300) * 300 AS bin,
    label,
    sum(records) AS records
FROM
(
    SELECT service, environment, route, rubric, layer, segment, minute, label, records
    FROM rollups FINAL
    ARRAY JOIN mapKeys(labels) AS label, mapValues(labels) AS records
    WHERE minute >= toDateTime({start:UInt32}) AND minute < toDateTime({end:UInt32})
        AND rubric IN {rubrics:Array(String)}
)
GROUP BY series, bin, label
