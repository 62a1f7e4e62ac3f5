-- Sums of these rubrics since a time, by route, from the roll-ups.
SELECT
    service, environment, route, rubric,
    sum(rollups.n) AS n, sum(rollups.total) AS total, sum(rollups.squares) AS squares
FROM rollups FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND rubric IN {rubrics:Array(String)}
GROUP BY service, environment, route, rubric
HAVING n > 0
ORDER BY service, environment, route, rubric
