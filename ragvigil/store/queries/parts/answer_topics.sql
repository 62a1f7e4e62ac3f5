-- The topic of each sampled question of a range, by the newest map of its service.
SELECT trace_id, record_id, argMax(topics.topic_id, dotProduct(vector, centroid)) AS topic
FROM
(
    SELECT DISTINCT trace_id, record_id, service, environment, vector_model, vector
    FROM questions
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND is_sampled AND has({by:Array(String)}, 'topic')
) AS asked
INNER JOIN
(
    SELECT service, environment, vector_model, topic_id, centroid
    FROM topics FINAL
    WHERE notEmpty(centroid)
        AND (service, environment, built) IN
        (
            SELECT service, environment, max(built) FROM topics GROUP BY service, environment
        )
) AS topics
    ON topics.service = asked.service AND topics.environment = asked.environment
    AND topics.vector_model = asked.vector_model
WHERE dotProduct(vector, centroid) >= {lies_in:Float64}
GROUP BY trace_id, record_id
