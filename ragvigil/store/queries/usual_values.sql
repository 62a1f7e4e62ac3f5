-- How many answers of a place had each value, in twentieths, by rubric and segment.
SELECT rubric, segment, sumForEach(histogram) AS answers
FROM rollups FINAL
PREWHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
    AND service = {service:String}
    AND environment = {environment:String}
    AND route = {route:String}
GROUP BY rubric, segment
