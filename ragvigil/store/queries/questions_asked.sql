-- Questions of a service in a range of time, and what became of their answers. Only scorers that see
-- every record (inclusion probability 1) and feedback tell whether an answer fails.
WITH
    asked AS
    (
        SELECT minute, trace_id, record_id, question, is_sampled, vector
        FROM questions FINAL
        WHERE minute >= toDateTime({since:UInt32}, 'UTC')
            AND minute < toDateTime({until:UInt32}, 'UTC')
            AND service = {service:String} AND environment = {environment:String}
            AND vector_model = {vector_model:String}
    ),
    told AS
    (
        SELECT trace_id, record_id, worst < 0.5 AS is_down
        FROM ratings
        WHERE minute >= toDateTime({since:UInt32}, 'UTC')
            AND minute < toDateTime({until:UInt32}, 'UTC')
            AND service = {service:String} AND environment = {environment:String}
    ),
    bad AS
    (
        SELECT trace_id, record_id
        FROM scores FINAL
        WHERE (minute, trace_id) IN (SELECT minute, trace_id FROM asked)
            AND failed AND inclusion_probability = 1
        UNION ALL
        SELECT trace_id, record_id
        FROM records FINAL
        WHERE (minute, trace_id) IN (SELECT minute, trace_id FROM asked) AND error IS NOT NULL
        UNION ALL
        SELECT trace_id, record_id FROM told WHERE is_down
    )
SELECT
    trace_id, record_id, question, is_sampled, vector,
    (trace_id, record_id) IN (SELECT trace_id, record_id FROM bad) AS is_failing,
    (trace_id, record_id) IN (SELECT trace_id, record_id FROM told) AS is_rated,
    (trace_id, record_id) IN (SELECT trace_id, record_id FROM told WHERE is_down) AS is_down
FROM asked
ORDER BY minute, trace_id, record_id
