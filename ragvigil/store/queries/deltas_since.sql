-- All rows since a time, oldest first. A row is closed when its tick is, however long ago it was written.
SELECT * REPLACE (toUInt8(closed = 1 OR toUnixTimestamp(tick) <= (SELECT max(position) FROM checkpoints WHERE reader = 'deltas')) AS closed) FROM
(
    @deltas
)
ORDER BY tick, service, environment, route, rubric, layer, segment, window
LIMIT 1 BY tick, service, environment, route, rubric, layer, segment, window
LIMIT {limit:UInt32}
