-- Counts the signals of minutes again from the records as they stand; a place without
-- records any more gets no sums.
INSERT INTO signal_minutes (
    minute, service, environment, route, `sums.signal`, `sums.segment`, `sums.n`, `sums.total`,
    `sums.squares`, form, rolled_up, version, replica, epoch
)
-- Replaced by version: sums that are the same as before must be written all the same.
SETTINGS insert_deduplicate = 0
SELECT
    minute, service, environment, route,
    groupArrayIf(signal, n > 0), groupArrayIf(segment, n > 0), groupArrayIf(counted.n, n > 0),
    groupArrayIf(total, n > 0), groupArrayIf(squares, n > 0),
    {form:String}, {rolled_up:UInt64}, {version:UInt64}, {replica:String}, {epoch:UInt32}
FROM
(
        @signal_counts
    UNION ALL
    SELECT
        minute, service, environment, route, '' AS signal, '' AS segment,
        toFloat64(0) AS n, toFloat64(0) AS total, toFloat64(0) AS squares
    FROM signal_minutes FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND toUnixTimestamp(minute) IN {minutes:Array(UInt32)} AND replica = {replica:String}
) AS counted
GROUP BY minute, service, environment, route
