-- Counts the fingerprints of minutes again from the records as they stand, as
-- `alerts/notices/fingerprint.py` takes them; a place without records any more gets no counts.
INSERT INTO fingerprint_minutes (
    minute, service, environment, route, `counts.kind`, `counts.value`, `counts.requests`,
    form, rolled_up, version, replica, epoch
)
-- Replaced by version: counts that are the same as before must be written all the same.
SETTINGS insert_deduplicate = 0
SELECT
    minute, service, environment, route,
    groupArrayArray(kinds), groupArrayArray(names), groupArrayArray(numbers),
    {form:String}, {rolled_up:UInt64}, {version:UInt64}, {replica:String}, {epoch:UInt32}
FROM
(
    SELECT
        minute, service, environment, route,
        arraySlice(
            arraySort(pair -> (-toInt64(pair.2), pair.1), groupArray((value, requests))),
            1, if(kind = 'template', {most_templates:UInt32}, {most_values:UInt32})
        ) AS kept,
        toUInt64(sum(requests) - arraySum(arrayMap(pair -> pair.2, kept))) AS others,
        arrayConcat(arrayMap(pair -> pair.1, kept), if(others > 0, [''], [])) AS names,
        arrayConcat(arrayMap(pair -> pair.2, kept), if(others > 0, [others], [])) AS numbers,
        arrayMap(name -> kind, names) AS kinds
    FROM
    (
        SELECT minute, service, environment, route, shown.1 AS kind, shown.2 AS value, count() AS requests
        FROM
        (
            @fingerprint_values
        )
        GROUP BY minute, service, environment, route, kind, value
    )
    GROUP BY minute, service, environment, route, kind
    UNION ALL
    SELECT
        minute, service, environment, route,
        [] AS kept, toUInt64(0) AS others, [] AS names, [] AS numbers, [] AS kinds
    FROM fingerprint_minutes FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        AND toUnixTimestamp(minute) IN {minutes:Array(UInt32)} AND replica = {replica:String}
)
GROUP BY minute, service, environment, route
