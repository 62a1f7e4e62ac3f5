-- Answers that users rated since a time, and how many of them badly.
SELECT service, environment, route, count() AS rated, countIf(worst < 0.5) AS down
FROM ratings
WHERE minute >= toDateTime({since:UInt32}, 'UTC')
GROUP BY service, environment, route
ORDER BY service, environment, route
