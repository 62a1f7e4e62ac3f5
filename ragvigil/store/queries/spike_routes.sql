-- By route, before an incident and in it: records that a rubric looked at, those that failed it or had a
-- label, and how many had each value of a local model or of code, in twentieths.
SELECT
    route, is_during, sum(looked) AS records, sum(under) AS failing, sum(spoken) AS labelled,
    sumForEach(modelled) AS answers
FROM
(
    SELECT
        route, minute >= toDateTime({first:UInt32}, 'UTC') AS is_during,
        n + if({label:String} IN ('', 'failed'), 0, not_applicable) AS looked, failed AS under,
        labels[{label:String}] AS spoken, if(kind IN ('model', 'code'), histogram, []) AS modelled
    FROM rollups FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String}
        AND rubric = {rubric:String}
    UNION ALL
    SELECT
        route, minute >= toDateTime({first:UInt32}, 'UTC') AS is_during,
        0 AS looked, 0 AS under, 0 AS spoken, histogram AS modelled
    FROM proxy_rollups FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String}
        AND rubric = {rubric:String}
)
GROUP BY route, is_during
