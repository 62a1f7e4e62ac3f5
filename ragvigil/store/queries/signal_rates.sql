-- Shares of records that fail rubrics, and rates of their labels, as far back as roll-ups go; without
-- repeats of a question. A rubric without values counts on every record with a label.
SELECT
    cityHash64(service, environment, route, signal) AS series,
    service, environment, route, one.1 AS signal, '' AS segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(one.2) AS n, sum(one.3) AS total, total AS squares
FROM
(
    SELECT
        minute, service, environment, route, rubric AS name, versions,
        toFloat64(sum(counted.n)) AS valued, sum(counted.failed) AS failures,
        sumMap(counted.labels) AS spoken_labels,
        if(valued > 0, valued, toFloat64(arraySum(mapValues(spoken_labels)))) AS spoken,
        arrayJoin(arrayMap(
            rate -> (
                rate, spoken,
                toFloat64(if(endsWith(rate, ':failed'), failures, spoken_labels[splitByChar(':', rate)[2]]))
            ),
            arrayFilter(rate -> startsWith(rate, concat(name, ':')), {rates:Array(String)})
        )) AS one
    FROM
    (
        SELECT
            minute, service, environment, route, toString(rubric) AS rubric,
            toString(rollups.segment) AS versions, toInt64(rollups.n) AS n,
            toInt64(rollups.failed) AS failed,
            mapApply((label, count) -> (label, toInt64(count)), rollups.labels) AS labels
        FROM rollups FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
            AND rubric IN {spoken:Array(String)}
        UNION ALL
        -- Counted as in `rollup_recompute`, to be taken away.
        SELECT
            minute, service, environment, route, toString(rubric) AS rubric,
            toString(scores.segment) AS versions, -toInt64(value IS NOT NULL) AS n,
            -toInt64(scores.failed) AS failed,
            mapFromArrays(
                arrayDistinct(arrayFilter(part -> part != '', arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))))) AS parts,
                arrayMap(part -> toInt64(-1), parts)
            ) AS labels
        FROM scores FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
            AND rubric IN {spoken:Array(String)} AND stream = 'base'
            AND (minute, trace_id, record_id) IN
            (
                @repeats
            )
    ) AS counted
    GROUP BY minute, service, environment, route, name, versions
)
GROUP BY service, environment, route, signal, start
HAVING n > 0
