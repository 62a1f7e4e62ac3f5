-- The newest tick with a row until a time, and whether it is closed. A run that is still writing its
-- ticks has not marked them yet.
WITH
(
    SELECT if(count() = 0, 4294967295, intDiv(toUnixTimestamp(max(written)) + 299, 300) * 300)
    FROM checkpoints WHERE reader = 'deltas'
) AS written_until,
toDateTime(least({until:UInt32}, written_until), 'UTC') AS latest
SELECT
    toUnixTimestamp(max(last)) AS newest,
    newest <= (SELECT max(position) FROM checkpoints WHERE reader = 'deltas') AS is_closed
FROM
(
    SELECT max(tick) AS last FROM delta_changes WHERE tick <= latest
    UNION ALL
    SELECT max(tick) AS last FROM rubric_deltas WHERE tick <= latest
)
