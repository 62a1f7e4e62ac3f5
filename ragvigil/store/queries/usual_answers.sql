-- Those of these failing records whose question was mostly answered so in the day before, on their route: with
-- this label of the rubric, at least twice.
WITH members AS
(
    SELECT
        trace_id, record_id, toString(route) AS own_route,
        lowerUTF8(trimBoth(assumeNotNull(question))) AS asked
    FROM failures FINAL
    WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
        AND question != ''
)
SELECT trace_id, record_id
FROM members
WHERE (own_route, asked) IN
(
    SELECT toString(route), lowerUTF8(trimBoth(assumeNotNull(query))) AS question
    FROM records FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String}
        AND error IS NULL AND question IN (SELECT asked FROM members)
    GROUP BY route, question
    HAVING
        countIf((trace_id, record_id) IN
        (
            SELECT trace_id, record_id FROM scores FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC')
                AND minute < toDateTime({until:UInt32}, 'UTC')
                AND service = {service:String} AND environment = {environment:String}
                AND rubric = {rubric:String}
                AND has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))), {label:String})
        ) AS is_shown) >= 2
        AND 2 * countIf(is_shown) >= count()
)
