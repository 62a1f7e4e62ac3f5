-- Minutes that daemons made out of date since a time, but for some daemons: an entry for each batch of theirs, all in
-- one row, as no limit of rows may cut it.
SELECT groupArray((token, minutes, written)) AS batches
FROM (
    SELECT
        token, arraySort(groupUniqArray(toUnixTimestamp(minute))) AS minutes,
        toUnixTimestamp64Milli(max(dirty_minutes.written)) / 1000 AS written
    FROM dirty_minutes
    WHERE dirty_minutes.written >= fromUnixTimestamp64Milli(toInt64({since:Float64} * 1000))
        AND NOT has({without:Array(String)}, replica)
    GROUP BY token
)
