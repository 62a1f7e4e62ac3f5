-- The newest row of every series and window that matches; without `with_empty`, the newest of those
-- that had scores.
SELECT * FROM
(
    @deltas
)
WHERE {with_empty:UInt8} = 1 OR n > 0 OR coverage IS NOT NULL
ORDER BY tick DESC
LIMIT 1 BY service, environment, route, rubric, layer, segment, window
LIMIT {limit:UInt32}
