-- By route and rubric, before an incident and since its onset: how many answers had each value of a local
-- model or of code, in twentieths; and of measures, in sixths of a doubling. Minutes between `until` and
-- `first` are of neither: the onset may lie among them.
SELECT route, rubric, is_since, sumForEach(histogram) AS answers
FROM
(
    SELECT
        toString(route) AS route, toString(rubric) AS rubric,
        minute >= toDateTime({first:UInt32}, 'UTC') AS is_since, histogram
    FROM rollups FINAL
    WHERE
        (
            minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
            OR minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        )
        AND service = {service:String} AND environment = {environment:String}
        AND kind IN ('model', 'code')
    UNION ALL
    SELECT
        toString(route) AS route, toString(rubric) AS rubric,
        minute >= toDateTime({first:UInt32}, 'UTC') AS is_since, histogram
    FROM proxy_rollups FINAL
    WHERE
        (
            minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
            OR minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        )
        AND service = {service:String} AND environment = {environment:String}
    UNION ALL
    SELECT
        toString(route) AS route, measure AS rubric,
        minute >= toDateTime({first:UInt32}, 'UTC') AS is_since,
        arrayMap(
            bin -> countEqual(
                groupArray(toUInt8(least(127, round(6 * log2(1 + measures[measure]))))), bin
            ),
            range(128)
        ) AS histogram
    FROM record_shapes FINAL
    ARRAY JOIN {measures:Array(String)} AS measure
    WHERE
        (
            minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
            OR minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        )
        AND service = {service:String} AND environment = {environment:String}
        AND mapContains(measures, measure) AND measures[measure] >= 0
    GROUP BY route, measure, is_since
)
GROUP BY route, rubric, is_since
