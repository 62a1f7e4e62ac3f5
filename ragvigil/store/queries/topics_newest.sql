-- The newest map of each service, most asked topics first.
SELECT *
FROM topics FINAL
WHERE (service, environment, built) IN
(
    SELECT service, environment, max(built) FROM topics GROUP BY service, environment
)
ORDER BY service, environment, questions DESC, topic_id
