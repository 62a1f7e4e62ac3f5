-- Scores by local models, for a rubric of their own or beside its judge, and rates of their labels;
-- without repeats of a question.
SELECT
    cityHash64(service, environment, route, signal, segment) AS series,
    service, environment, route, one.1 AS signal, one.2 AS segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    toFloat64(count()) AS n, sum(one.3) AS total, sum(one.3 * one.3) AS squares
FROM
(
    SELECT
        minute, service, environment, route, toString(rubric) AS name,
        arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))) AS parts,
        arrayJoin(arrayConcat(
            if(
                has({local:Array(String)}, name),
                [(name, toString(scores.segment), assumeNotNull(value))],
                []
            ),
            arrayMap(
                rate -> (rate, '', toFloat64(has(parts, splitByChar(':', rate)[2]))),
                arrayFilter(
                    rate -> startsWith(rate, concat(name, ':')), {local_rates:Array(String)}
                )
            )
        )) AS one
    FROM scores FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
        AND kind = 'model' AND stream IN ('base', 'proxy') AND value IS NOT NULL
        AND has(
            arrayConcat(
                {local:Array(String)},
                arrayMap(rate -> splitByChar(':', rate)[1], {local_rates:Array(String)})
            ),
            toString(rubric)
        )
        AND (minute, trace_id, record_id) NOT IN
        (
            @repeats
        )
)
GROUP BY service, environment, route, signal, segment, start
