-- By route and minute: answers whose question was asked before, and those of them that draw on other chunks
-- than its answers did then. They cite a chunk that the question was not given, or lack one that half of
-- its answers cited. An answer that cites nothing draws on all that it was given. Recited are those of the
-- others that cite the same chunks as often as one of then, but each answer of then in another order.
WITH given AS
(
    SELECT
        minute, trace_id, record_id, toString(route) AS route,
        cityHash64(lowerUTF8(trimBoth(assumeNotNull(query))), tenant, locale) AS question,
        arrayMap((hash, name) -> if(hash = '', name, hash), `context.hash`, `context.chunk_id`) AS shown,
        arrayFilter((chunk, name) -> has(`citations.chunk_id`, name), shown, `context.chunk_id`) AS cited,
        arrayDistinct(if(empty(cited), shown, cited)) AS drawn,
        arrayMap(
            name -> shown[indexOf(`context.chunk_id`, name)],
            arrayFilter(
                name -> has(`context.chunk_id`, name),
                arrayMap(name -> ifNull(name, ''), `citations.chunk_id`)
            )
        ) AS cites,
        cityHash64(cites) AS order_of_cites,
        cityHash64(arraySort(arrayDistinct(cites)), length(cites)) AS set_of_cites
    FROM records FINAL
    WHERE service = {service:String} AND environment = {environment:String}
        AND
        (
            minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
            OR minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
        )
        AND ifNull(query, '') != '' AND error IS NULL AND notEmpty(`context.chunk_id`)
)
SELECT
    route, toUnixTimestamp(minute) AS start, count() AS answers,
    groupArrayIf(tuple(trace_id, record_id), is_redrawn) AS redrawn,
    groupArrayIf(tuple(trace_id, record_id), is_recited AND NOT is_redrawn) AS recited
FROM
(
    SELECT
        route, minute, trace_id, record_id,
        notEmpty(arrayFilter(chunk -> NOT has(seen, chunk), drawn))
            OR notEmpty(arrayFilter(chunk -> NOT has(shown, chunk), usual)) AS is_redrawn,
            notEmpty(cites) AND has(sets, set_of_cites) AND NOT has(orders, order_of_cites) AS is_recited
    FROM (SELECT * FROM given WHERE minute >= toDateTime({first:UInt32}, 'UTC')) AS now
    INNER JOIN
    (
        SELECT
            route, question, groupUniqArrayArray(shown) AS seen,
            mapKeys(mapFilter(
                (chunk, times) -> 2 * times >= asked,
                sumMap(mapFromArrays(drawn, arrayMap(chunk -> toUInt64(1), drawn)))
            )) AS usual,
            groupUniqArray(order_of_cites) AS orders, groupUniqArray(set_of_cites) AS sets,
            count() AS asked
        FROM given
        WHERE minute < toDateTime({until:UInt32}, 'UTC')
        GROUP BY route, question
    ) AS past USING (route, question)
)
GROUP BY route, minute
ORDER BY route, minute
