-- Beside each of these failing records the records of its route that share most words of its question,
-- the nearest in time of equals. Read are all with the same text, whatever the case, and a sample of
-- the others, the same each time. Without FINAL: `neighbours_passing` reads the chosen ones again.
WITH
    members AS
    (
        SELECT
            trace_id, record_id, route, failures.time AS at,
            lowerUTF8(trimBoth(assumeNotNull(question))) AS asked,
            extractAll(asked, '[\\pL\\pN]+') AS words
        FROM failures FINAL
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
            AND record_id IN {record_ids:Array(String)} AND question != ''
    ),
    near AS
    (
        SELECT
            minute, trace_id, record_id, route, records.time AS at,
            lowerUTF8(trimBoth(assumeNotNull(query))) AS asked
        FROM records
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
            AND service = {service:String} AND environment = {environment:String}
            AND route IN (SELECT route FROM members)
            AND query != '' AND backfill = ''
            AND (trace_id, record_id) NOT IN
            (
                SELECT trace_id, record_id FROM failures FINAL
                WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                    AND minute <= toDateTime({last:UInt32}, 'UTC')
                    AND service = {service:String} AND environment = {environment:String}
            )
        ORDER BY asked IN (SELECT asked FROM members) DESC, cityHash64(trace_id, record_id)
        LIMIT {limit:UInt32}
    )
SELECT
    members.trace_id AS beside_trace_id, members.record_id AS beside_record_id,
    toUnixTimestamp(near.minute) AS minute_seconds,
    near.trace_id AS trace_id, near.record_id AS record_id,
    extractAll(near.asked, '[\\pL\\pN]+') AS words,
    words = members.words AS is_same,
    length(arrayIntersect(words, members.words))
        / greatest(1, length(arrayDistinct(arrayConcat(words, members.words)))) AS likeness
FROM near
INNER JOIN members ON near.route = members.route
WHERE likeness >= {least:Float64}
ORDER BY
    is_same DESC, likeness DESC,
    abs(toUnixTimestamp64Nano(near.at) - toUnixTimestamp64Nano(members.at)), trace_id, record_id
LIMIT {each:UInt32} BY beside_trace_id, beside_record_id
