-- Scores by local models, for a rubric of their own or beside its judge; without repeats of a question.
SELECT
    cityHash64(service, environment, route, signal, segment) AS series,
    service, environment, route, toString(rubric) AS signal, toString(scores.segment) AS segment,
    intDiv(toUnixTimestamp(minute), {bin:UInt32}) * {bin:UInt32} AS start,
    toFloat64(count()) AS n, sum(assumeNotNull(value)) AS total,
    sum(assumeNotNull(value) * assumeNotNull(value)) AS squares
FROM scores FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
    AND kind = 'model' AND stream IN ('base', 'proxy') AND value IS NOT NULL
    AND rubric IN {local:Array(String)}
    AND (minute, trace_id, record_id) NOT IN
    (
        @repeats
    )
GROUP BY service, environment, route, signal, segment, start
