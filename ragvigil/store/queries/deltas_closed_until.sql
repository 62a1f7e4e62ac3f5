-- The newest closed tick. Without FINAL: a row that was computed again has the same tick.
SELECT count() AS rows, toUnixTimestamp(max(tick)) AS tick
FROM rubric_deltas
WHERE closed = 1
