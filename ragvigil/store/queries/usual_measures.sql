-- Those of these failing records whose measure lies in the middle half of what answers to their question had in
-- the day before, on their route: they are as long as ever.
WITH
    members AS
    (
        SELECT
            trace_id, record_id, toString(route) AS own_route,
            lowerUTF8(trimBoth(assumeNotNull(question))) AS asked
        FROM failures FINAL
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
            AND question != ''
    ),
    own AS
    (
        SELECT trace_id, record_id, measures[{measure:String}] AS value
        FROM record_shapes FINAL
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
            AND mapContains(measures, {measure:String})
    ),
    past AS
    (
        SELECT toString(route) AS own_route, records.asked AS asked, shapes.value AS value
        FROM
        (
            SELECT
                trace_id, record_id, route, lowerUTF8(trimBoth(assumeNotNull(query))) AS asked
            FROM records FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
                AND service = {service:String} AND environment = {environment:String}
                AND error IS NULL AND asked IN (SELECT asked FROM members)
        ) AS records
        INNER JOIN
        (
            SELECT trace_id, record_id, measures[{measure:String}] AS value
            FROM record_shapes FINAL
            WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND minute < toDateTime({until:UInt32}, 'UTC')
                AND service = {service:String} AND environment = {environment:String}
                AND mapContains(measures, {measure:String})
        ) AS shapes USING (trace_id, record_id)
    )
SELECT trace_id, record_id
FROM (SELECT * FROM members INNER JOIN own USING (trace_id, record_id)) AS now
INNER JOIN past ON now.own_route = past.own_route AND now.asked = past.asked
GROUP BY trace_id, record_id
HAVING
    countIf(past.value <= now.value) >= greatest(2, count() / 4)
    AND countIf(past.value >= now.value) >= greatest(2, count() / 4)
