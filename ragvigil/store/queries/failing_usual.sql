-- By route and rubric: records that fail it, and all that it scored.
SELECT service, environment, route, rubric, sum(failed) AS failing, sum(n) AS scored
FROM rollups FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY service, environment, route, rubric
HAVING failing > 0
