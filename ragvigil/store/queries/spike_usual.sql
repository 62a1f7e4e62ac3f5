-- How many answers of a route had each value of a local model or of code before an incident, in twentieths.
SELECT sumForEach(histogram) AS answers
FROM
(
    SELECT histogram FROM rollups FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String}
        AND ({route:String} = '*' OR route = {route:String})
        AND rubric = {rubric:String} AND kind IN ('model', 'code')
    UNION ALL
    SELECT histogram FROM proxy_rollups FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String}
        AND ({route:String} = '*' OR route = {route:String})
        AND rubric = {rubric:String}
)
