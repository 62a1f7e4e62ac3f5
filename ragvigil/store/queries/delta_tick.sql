-- The newest tick with a row until a time, and whether it is closed.
SELECT
    toUnixTimestamp(max(latest)) AS newest,
    newest <= (SELECT max(position) FROM checkpoints WHERE reader = 'deltas') AS is_closed
FROM
(
    SELECT max(tick) AS latest FROM delta_changes WHERE tick <= toDateTime({until:UInt32}, 'UTC')
    UNION ALL
    SELECT max(tick) AS latest FROM rubric_deltas WHERE tick <= toDateTime({until:UInt32}, 'UTC')
)
