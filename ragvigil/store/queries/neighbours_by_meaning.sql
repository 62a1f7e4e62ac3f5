-- Beside each of these failing records the sampled questions with the nearest vectors. Vectors have
-- length 1. `neighbours_passing` reads the records of the chosen ones.
WITH members AS
(
    SELECT trace_id, record_id, question_vector
    FROM failures FINAL
    WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
        AND record_id IN {record_ids:Array(String)} AND vector_model = {model:String}
)
SELECT
    members.trace_id AS beside_trace_id, members.record_id AS beside_record_id,
    toUnixTimestamp(near.minute) AS minute_seconds,
    near.trace_id AS trace_id, near.record_id AS record_id,
    0 AS is_same,
    1 - cosineDistance(near.vector, members.question_vector) AS likeness
FROM
(
    SELECT minute, trace_id, record_id, vector
    FROM questions FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String}
        AND vector_model = {model:String}
        AND (trace_id, record_id) NOT IN
        (
            SELECT trace_id, record_id FROM failures FINAL
            WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                AND minute <= toDateTime({last:UInt32}, 'UTC')
                AND service = {service:String} AND environment = {environment:String}
        )
) AS near
CROSS JOIN members
WHERE likeness >= {least:Float64}
ORDER BY likeness DESC, trace_id, record_id
LIMIT {each:UInt32} BY beside_trace_id, beside_record_id
