-- Minutes whose roll-ups are newer than the counts of that form.
SELECT toUnixTimestamp(rolled.minute) AS minute
FROM
(
    SELECT minute, max(rollups.version) AS changed
    FROM rollups
    WHERE minute >= toDateTime({first:UInt32}, 'UTC')
    GROUP BY minute
) AS rolled
LEFT JOIN
(
    SELECT minute, min(kept.rolled_up) AS counted
    FROM {table:Identifier} AS kept FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC')
        AND replica = {replica:String} AND form = {form:String}
    GROUP BY minute
) AS counts ON counts.minute = rolled.minute
WHERE counts.counted < rolled.changed
ORDER BY minute
