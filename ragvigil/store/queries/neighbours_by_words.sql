-- Beside each of these failing records the passing record of its route with the most words of its
-- question, the nearest in time of equals. Read are all that ask the same, whatever the case and the
-- spaces, and a sample of the others, the same each time.
WITH
    members AS
    (
        SELECT
            trace_id, record_id, route, failures.time AS at,
            lowerUTF8(trimBoth(replaceRegexpAll(assumeNotNull(question), '\\s+', ' '))) AS asked,
            arrayDistinct(extractAll(asked, '[\\pL\\pN]+')) AS words
        FROM failures FINAL
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
            AND record_id IN {record_ids:Array(String)} AND question != ''
    ),
    passing AS
    (
        SELECT
            trace_id, record_id, route, records.time AS at, query,
            service_version, prompt_version, index_epoch, llm_model,
            lowerUTF8(trimBoth(replaceRegexpAll(assumeNotNull(query), '\\s+', ' '))) AS asked,
            arrayDistinct(extractAll(asked, '[\\pL\\pN]+')) AS words
        FROM records FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
            AND service = {service:String} AND environment = {environment:String}
            AND route IN (SELECT route FROM members)
            AND query != '' AND ifNull(error, '') = '' AND backfill = ''
            AND (trace_id, record_id) NOT IN
            (
                SELECT trace_id, record_id FROM failures FINAL
                WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                    AND minute <= toDateTime({last:UInt32}, 'UTC')
                    AND service = {service:String} AND environment = {environment:String}
            )
            AND
            (
                {rubric:String} = ''
                OR (trace_id, record_id) IN
                (
                    SELECT trace_id, record_id FROM scores FINAL
                    WHERE minute >= toDateTime({first:UInt32}, 'UTC')
                        AND minute <= toDateTime({last:UInt32}, 'UTC')
                        AND service = {service:String} AND environment = {environment:String}
                        AND rubric = {rubric:String} AND value IS NOT NULL AND failed = 0
                )
            )
        ORDER BY asked IN (SELECT asked FROM members) DESC, cityHash64(trace_id, record_id)
        LIMIT {limit:UInt32}
    )
SELECT
    members.trace_id AS beside_trace_id, members.record_id AS beside_record_id,
    passing.trace_id AS trace_id, passing.record_id AS record_id,
    toUnixTimestamp64Nano(passing.at) AS time_nanos, passing.route AS route, query AS question,
    service_version, prompt_version, index_epoch, llm_model,
    if(
        passing.asked = members.asked,
        1,
        length(arrayIntersect(passing.words, members.words))
            / greatest(1, length(arrayDistinct(arrayConcat(passing.words, members.words))))
    ) AS likeness,
    passing.asked = members.asked AS is_same
FROM passing
INNER JOIN members ON passing.route = members.route
WHERE likeness >= {least:Float64}
ORDER BY
    is_same DESC, likeness DESC,
    abs(toUnixTimestamp64Nano(passing.at) - toUnixTimestamp64Nano(members.at)), trace_id, record_id
LIMIT 1 BY beside_trace_id, beside_record_id
