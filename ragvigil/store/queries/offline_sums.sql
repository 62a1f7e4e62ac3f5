-- The scores of a run under the condition of production, by place and rubric; a question counts once.
SELECT
    service, environment, route, rubric, count() AS n, sum(mean) AS total,
    sum(mean * mean) AS squares
FROM
(
    SELECT service, environment, route, rubric, avg(value) AS mean
    FROM offline_scores FINAL
    WHERE run_id = {run_id:String} AND condition = 'retrieved' AND rubric != ''
    GROUP BY service, environment, route, rubric, question
)
GROUP BY service, environment, route, rubric
ORDER BY service, environment, route, rubric
