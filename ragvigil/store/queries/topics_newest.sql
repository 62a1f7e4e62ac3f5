-- The newest map of each service, most asked topics first.
SELECT
    service, environment, topic_id, name, questions, failing, rated, down, golden_cases, examples,
    centroid, vector_model,
    toUnixTimestamp64Nano(built) AS built_nanos, toUnixTimestamp64Nano(since) AS since_nanos
FROM topics FINAL
WHERE (service, environment, built) IN
(
    SELECT service, environment, max(built) FROM topics GROUP BY service, environment
)
ORDER BY service, environment, questions DESC, topic_id
