-- Bars of labels that hold since then or later, the oldest first.
SELECT *
FROM label_bars FINAL
WHERE holds_from >= toDateTime64({since:UInt32}, 9, 'UTC')
ORDER BY holds_from, service, environment, route, rubric, segment
