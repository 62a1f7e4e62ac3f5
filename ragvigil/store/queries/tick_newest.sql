-- The newest closed tick, when ticks were computed last, and the newest minute with roll-ups.
SELECT
    max(position) AS closed_tick,
    toUnixTimestamp64Nano(max(written)) AS computed,
    (SELECT toUnixTimestamp(max(minute)) FROM rollups) AS minute,
    count() AS known
FROM checkpoints
WHERE reader = 'deltas'
