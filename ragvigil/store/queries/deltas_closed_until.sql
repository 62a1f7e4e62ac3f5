SELECT count() AS rows, toUnixTimestamp(max(tick)) AS tick
FROM rubric_deltas
WHERE closed = 1
