-- Counts minutes again from the scores as they stand; a series without scores any more gets zeros.
-- The version is newer than every version that it replaces, whatever the clock says.
INSERT INTO {table:Identifier} (
    minute, service, environment, route, rubric, layer, segment, kind, version, n, total, squares,
    failed, not_applicable, absent, histogram, labels, replica, epoch
)
-- Replaced by version: counts that are the same as before must be written all the same.
SETTINGS insert_deduplicate = 0
SELECT
    minute, service, environment, route, rubric, layer, segment, max(counted.kind),
    greatest({version:UInt64}, max(replaced) + 1),
    sum(counted.n), sum(counted.total), sum(counted.squares), sum(counted.failed),
    sum(counted.not_applicable), sum(counted.absent), sumForEach(counted.histogram),
    sumMap(counted.labels), {replica:String}, {epoch:UInt32}
FROM
(
    SELECT
        minute, service, environment, route, rubric, layer, segment, toString(max(scores.kind)) AS kind,
        toUInt64(0) AS replaced,
        count(value) AS n,
        sum(ifNull(value, 0)) AS total,
        sum(ifNull(value * value, 0)) AS squares,
        toUInt64(sum(scores.failed)) AS failed,
        countIf(value IS NULL AND scores.absent = '') AS not_applicable,
        countIf(value IS NULL AND scores.absent != '') AS absent,
        arrayMap(
            bin -> countEqual(
                groupArrayIf(toUInt8(round(ifNull(value, 0) * 20)), value IS NOT NULL), bin
            ),
            range(21)
        ) AS histogram,
        sumMap(
            mapFromArrays(
                arrayDistinct(arrayFilter(part -> part != '', arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))))) AS parts,
                arrayMap(part -> toUInt64(1), parts)
            )
        ) AS labels
    FROM scores FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
        AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
        AND stream = {stream:String}
    GROUP BY minute, service, environment, route, rubric, layer, segment
    UNION ALL
    SELECT
        minute, service, environment, route, rubric, layer, segment, toString(kind) AS kind,
        version AS replaced,
        0 AS n, 0 AS total, 0 AS squares, 0 AS failed, 0 AS not_applicable, 0 AS absent,
        arrayResize(emptyArrayUInt64(), 21) AS histogram,
        CAST(map(), 'Map(String, UInt64)') AS labels
    FROM {table:Identifier} FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
        AND (empty({minutes:Array(UInt32)}) OR toUnixTimestamp(minute) IN {minutes:Array(UInt32)})
) AS counted
GROUP BY minute, service, environment, route, rubric, layer, segment
