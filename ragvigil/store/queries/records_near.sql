-- The records that match whose questions lie nearest to a vector, the nearest first: where their rows
-- lie. Vectors have length 1: their product is the cosine.
SELECT
    toUnixTimestamp(minute) AS minute_seconds,
    toUnixTimestamp(received) AS received_seconds,
    trace_id,
    record_id,
    likeness
FROM
(
    @chosen
) AS chosen
INNER JOIN
(
    SELECT minute, trace_id, record_id, max(dotProduct(question_vector, {vector:Array(Float32)})) AS likeness
    FROM
    (
        @vectors
    )
    GROUP BY minute, trace_id, record_id
    HAVING likeness >= {least:Float64}
) AS near USING (minute, trace_id, record_id)
ORDER BY likeness DESC, time DESC, trace_id, record_id
LIMIT {limit:UInt32}
