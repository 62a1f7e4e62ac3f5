-- Beside each of these failing records the passing record of its route whose question has the nearest
-- vector, among the sampled questions. Vectors have length 1.
WITH
    members AS
    (
        SELECT trace_id, record_id, route, question_vector
        FROM failures FINAL
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
            AND record_id IN {record_ids:Array(String)} AND vector_model = {model:String}
    ),
    near AS
    (
        SELECT
            members.trace_id AS beside_trace_id, members.record_id AS beside_record_id,
            members.route AS route,
            asked.minute AS minute, asked.trace_id AS trace_id, asked.record_id AS record_id,
            1 - cosineDistance(asked.vector, members.question_vector) AS likeness
        FROM
        (
            SELECT minute, trace_id, record_id, vector
            FROM questions FINAL
            WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                AND minute <= toDateTime({last:UInt32}, 'UTC')
                AND service = {service:String} AND environment = {environment:String}
                AND vector_model = {model:String}
                AND (trace_id, record_id) NOT IN
                (
                    SELECT trace_id, record_id FROM failures FINAL
                    WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                        AND minute <= toDateTime({last:UInt32}, 'UTC')
                        AND service = {service:String} AND environment = {environment:String}
                )
        ) AS asked
        CROSS JOIN members
        WHERE likeness >= {least:Float64}
        ORDER BY likeness DESC, trace_id, record_id
        LIMIT 50 BY beside_trace_id, beside_record_id
    )
SELECT
    beside_trace_id, beside_record_id, trace_id, record_id,
    toUnixTimestamp64Nano(records.time) AS time_nanos, records.route AS route,
    records.query AS question, service_version, prompt_version, index_epoch, llm_model, likeness
FROM records FINAL
INNER JOIN near ON near.minute = records.minute AND near.trace_id = records.trace_id
    AND near.record_id = records.record_id
WHERE (records.minute, records.trace_id) IN (SELECT minute, trace_id FROM near)
    AND records.route = near.route
    AND ifNull(error, '') = '' AND backfill = ''
    AND
    (
        {rubric:String} = ''
        OR (records.trace_id, records.record_id) IN
        (
            SELECT trace_id, record_id FROM scores FINAL
            WHERE (minute, trace_id) IN (SELECT minute, trace_id FROM near)
                AND rubric = {rubric:String} AND value IS NOT NULL AND failed = 0
        )
    )
ORDER BY likeness DESC, trace_id, record_id
LIMIT 1 BY beside_trace_id, beside_record_id
