-- Closed traces by outcome.
SELECT outcome, count() AS traces
FROM traces FINAL
GROUP BY outcome
ORDER BY outcome
