-- The newest closed tick, when rows were computed last, and the newest minute with roll-ups.
SELECT
    toUnixTimestamp(maxIf(tick, closed = 1)) AS closed_tick,
    toUnixTimestamp64Nano(max(computed)) AS computed,
    (SELECT toUnixTimestamp(max(minute)) FROM rollups) AS minute,
    count() AS stored
FROM rubric_deltas
