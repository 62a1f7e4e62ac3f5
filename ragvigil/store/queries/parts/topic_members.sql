SELECT minute, trace_id, record_id
FROM
(
    SELECT minute, trace_id, record_id, vector, place.built AS built, dotProduct(vector, centroid) AS likeness
    FROM questions
    CROSS JOIN
    (
        SELECT service, environment, built, vector_model, centroid
        FROM topics FINAL
        WHERE topic_id = {topic:String} AND notEmpty(centroid)
        ORDER BY built DESC
        LIMIT 1
    ) AS place
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND questions.service = place.service AND questions.environment = place.environment
        AND questions.vector_model = place.vector_model
        AND likeness >= {lies_in:Float64}
) AS near
CROSS JOIN
(
    SELECT service, environment, built, centroid AS other
    FROM topics FINAL
    WHERE notEmpty(centroid) AND (service, environment, built) IN
    (
        SELECT service, environment, max(built) FROM topics WHERE topic_id = {topic:String} GROUP BY service, environment
    )
) AS others
GROUP BY minute, trace_id, record_id
HAVING max(dotProduct(vector, other)) <= max(likeness) + 1e-6
