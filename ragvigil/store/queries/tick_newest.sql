-- The newest closed tick, and when the newest rows were computed; 0 where there are none.
SELECT
    toUnixTimestamp(maxIf(tick, closed = 1)) AS closed_tick,
    toUnixTimestamp64Nano(max(computed)) AS computed,
    count() AS stored
FROM rubric_deltas
