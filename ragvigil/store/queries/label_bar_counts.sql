-- How many answers of a route had each value of a local model, in twentieths, outside the times of incidents,
-- and the first minute that has any.
SELECT
    service, environment, route, rubric, segment,
    sumForEach(histogram) AS answers, toUInt32(toUnixTimestamp(min(minute))) AS first
FROM
(
    SELECT minute, service, environment, route, rubric, segment, histogram
    FROM rollups FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND rubric IN {rubrics:Array(String)} AND kind = 'model' AND n > 0
    UNION ALL
    SELECT minute, service, environment, route, rubric, segment, histogram
    FROM proxy_rollups FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND rubric IN {rubrics:Array(String)} AND n > 0
)
WHERE NOT arrayExists(
    (of_service, of_environment, of_route, begin, finish) ->
        of_service = service AND of_environment = environment AND of_route IN ('*', route)
        AND minute >= toDateTime(begin, 'UTC') AND minute <= toDateTime(finish, 'UTC'),
    {ill_services:Array(String)}, {ill_environments:Array(String)}, {ill_routes:Array(String)},
    {ill_firsts:Array(UInt32)}, {ill_lasts:Array(UInt32)}
)
GROUP BY service, environment, route, rubric, segment
