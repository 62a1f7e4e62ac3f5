-- Answers since a time with their scores: all of which users said something, and of the others a share
-- by the hash of the trace. Scores are of the uniform sample: what was judged because it looked wrong,
-- or because a user complained, would make every rubric look as if it tracked users.
WITH answers AS
(
    SELECT
        records.trace_id AS trace_id, records.record_id AS record_id, service, environment, question,
        told.kinds AS kinds, told.bad AS bad
    FROM records FINAL
    LEFT JOIN
@told_answers
    AS told ON told.trace_id = records.trace_id AND told.record_id = records.record_id
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND ({service:String} = '' OR service = {service:String})
        AND
        (
            notEmpty(told.kinds)
            OR cityHash64(records.trace_id) % 1000000 < {per_million:UInt32}
        )
    ORDER BY notEmpty(told.kinds) DESC, cityHash64(records.trace_id)
    LIMIT {limit:UInt32}
)
SELECT service, environment, question, kinds, bad, scored.rubrics AS rubrics, scored.values AS values
FROM answers
INNER JOIN
(
    SELECT trace_id, record_id, groupArray(toString(rubric)) AS rubrics, groupArray(mean) AS values
    FROM
    (
        SELECT trace_id, record_id, rubric, avg(value) AS mean
        FROM scores FINAL
        WHERE minute >= toDateTime({since:UInt32}, 'UTC')
            AND stream = 'base' AND value IS NOT NULL
            AND (trace_id, record_id) IN (SELECT trace_id, record_id FROM answers)
        GROUP BY trace_id, record_id, rubric
    )
    GROUP BY trace_id, record_id
) AS scored ON scored.trace_id = answers.trace_id AND scored.record_id = answers.record_id
