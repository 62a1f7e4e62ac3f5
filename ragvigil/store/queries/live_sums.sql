-- Scores of the uniform sample since a time, in a release or in any, by place and rubric: of a share
-- of the answers by the hash of the trace. `questions` tells how many of them are different.
SELECT
    service, environment, route, rubric, segment, max(minute) AS newest, count() AS n,
    sum(value) AS total, sum(value * value) AS squares, uniqExact(question) AS questions
FROM
(
    SELECT
        trace_id, record_id, toString(service) AS service, toString(environment) AS environment,
        toString(route) AS route, toString(rubric) AS rubric, toString(segment) AS segment, minute,
        assumeNotNull(value) AS value
    FROM scores FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND service IN {services:Array(String)}
        AND rubric IN {rubrics:Array(String)} AND stream = 'base' AND value IS NOT NULL
        AND cityHash64(trace_id) % 1000000 < {per_million:UInt32}
) AS scored
INNER JOIN
(
    SELECT trace_id, record_id, question
    FROM records FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND service IN {services:Array(String)}
        AND ({release:String} = '' OR service_version = {release:String})
        AND cityHash64(trace_id) % 1000000 < {per_million:UInt32}
) AS answers ON answers.trace_id = scored.trace_id AND answers.record_id = scored.record_id
GROUP BY service, environment, route, rubric, segment
ORDER BY service, environment, route, rubric, newest
