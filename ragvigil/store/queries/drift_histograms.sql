-- Scores of each series by bins of time and of value, a row for each bin of value with scores; those
-- of local scorers beside a judge are series of their own.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    toUInt32(place) AS place_of_value,
    toFloat64(sum(hits)) AS answers
FROM
(
    SELECT minute, service, environment, route, rubric, layer, segment, histogram
    FROM rollups FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    UNION ALL
    SELECT minute, service, environment, route, rubric, layer, segment, histogram
    FROM proxy_rollups FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
)
ARRAY JOIN histogram AS hits, arrayEnumerate(histogram) AS place
WHERE hits > 0 AND rubric NOT IN {without:Array(String)}
GROUP BY series, start, place_of_value
