-- Values of rubrics, shares of records that fail them, and rates of their labels, over records that
-- have a value or a label; beside them what local models give, for a rubric of their own or beside
-- its judge. Without repeats of a question.
SELECT
    minute, service, environment, route, one.1 AS signal, one.2 AS segment,
    toFloat64(count()) AS n, sum(one.3) AS total, sum(one.3 * one.3) AS squares
FROM
(
    SELECT
        minute, service, environment, route, toString(rubric) AS name,
        arrayFilter(part -> part != '', arrayMap(part -> trimBoth(part), splitByChar(',', toString(label)))) AS parts,
        stream = 'base' AND (value IS NOT NULL OR notEmpty(parts)) AS is_spoken,
        kind = 'model' AND value IS NOT NULL AS is_local,
        arrayJoin(arrayConcat(
            if(
                is_spoken AND value IS NOT NULL AND has({rubrics:Array(String)}, name),
                [(name, toString(scores.segment), ifNull(value, 0))],
                []
            ),
            arrayMap(
                rate -> (rate, '', toFloat64(if(endsWith(rate, ':failed'), scores.failed, has(parts, splitByChar(':', rate)[2])))),
                arrayFilter(
                    rate -> is_spoken AND startsWith(rate, concat(name, ':')), {rates:Array(String)}
                )
            ),
            if(
                is_local AND has({local:Array(String)}, name),
                [(name, toString(scores.segment), ifNull(value, 0))],
                []
            ),
            arrayMap(
                rate -> (rate, '', toFloat64(has(parts, splitByChar(':', rate)[2]))),
                arrayFilter(
                    rate -> is_local AND startsWith(rate, concat(name, ':')), {local_rates:Array(String)}
                )
            ),
            arrayMap(
                share -> (share, toString(scores.segment), toFloat64(has(parts, splitByChar(':', share)[2]))),
                arrayFilter(
                    share -> is_local AND startsWith(share, concat(name, ':')), {local:Array(String)}
                )
            )
        )) AS one
    FROM scores FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
        AND rubric IN {spoken:Array(String)} AND stream IN ('base', 'proxy')
        AND (minute, trace_id, record_id) NOT IN
        (
            @repeats
        )
)
GROUP BY minute, service, environment, route, signal, segment
