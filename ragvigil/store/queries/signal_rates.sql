-- Values of rubrics, shares of records that fail them, and rates of their labels. A rubric without
-- values counts on every record with a label.
SELECT
    cityHash64(service, environment, route, signal, segment) AS series,
    service, environment, route, one.1 AS signal, one.2 AS segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    sum(one.3) AS n, sum(one.4) AS total, sum(one.5) AS squares
FROM
(
    SELECT
        minute, service, environment, route,
        toString(rubric) AS name, toString(rollups.segment) AS versions,
        toFloat64(rollups.n) AS valued,
        if(rollups.n > 0, valued, toFloat64(arraySum(mapValues(labels)))) AS spoken,
        arrayJoin(arrayConcat(
            if(
                has({rubrics:Array(String)}, name),
                [(name, versions, valued, rollups.total, rollups.squares)],
                []
            ),
            arrayMap(
                rate -> (
                    rate, '', spoken,
                    toFloat64(if(endsWith(rate, ':failed'), failed, labels[splitByChar(':', rate)[2]])) AS hits,
                    hits
                ),
                arrayFilter(rate -> startsWith(rate, concat(name, ':')), {rates:Array(String)})
            )
        )) AS one
    FROM rollups FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
        AND rubric IN {spoken:Array(String)}
)
GROUP BY service, environment, route, signal, segment, start
HAVING n > 0
