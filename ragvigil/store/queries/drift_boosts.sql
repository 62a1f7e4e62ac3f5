-- Scores of the routes that are judged more for a while, beside those of the base sample.
SELECT
    scores.series AS series,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    toUInt32(round(assumeNotNull(scores.value) * 20)) + 1 AS place_of_value,
    toFloat64(count()) AS answers
FROM scores FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND stream = 'boost' AND scores.value IS NOT NULL
GROUP BY series, start, place_of_value
