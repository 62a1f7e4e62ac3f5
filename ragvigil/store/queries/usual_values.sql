-- How many answers of a place had each value, in twentieths, by rubric and segment.
SELECT rubric, segment, sumForEach(histogram) AS answers
FROM
(
    @route_rollups
)
-- An empty name is a name here.
WHERE service = {service:String} AND environment = {environment:String}
GROUP BY rubric, segment
