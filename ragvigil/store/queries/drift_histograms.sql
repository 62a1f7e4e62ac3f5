-- Scores of each series by bins of time and of value, a row for each bin of value with scores.
SELECT
    cityHash64(service, environment, route, rubric, layer, segment) AS series,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    toUInt32(place) AS place_of_value,
    toFloat64(sum(hits)) AS answers
FROM rollups FINAL
ARRAY JOIN histogram AS hits, arrayEnumerate(histogram) AS place
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND hits > 0 AND rubric NOT IN {without:Array(String)}
GROUP BY series, start, place_of_value
