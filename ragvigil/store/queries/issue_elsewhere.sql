-- How many records of a service that are not members of these issues have each of these routes and
-- versions; `value` is empty for those with another. Imported answers do not count.
SELECT
    trait.1 AS name,
    if(trait IN arrayZip({names:Array(String)}, {values:Array(String)}), trait.2, '') AS value,
    count() AS answers
FROM
(
    SELECT
        arrayJoin([
            ('route', toString(route)),
            ('service_version', toString(service_version)),
            ('prompt_version', toString(prompt_version)),
            ('index_epoch', toString(index_epoch)),
            ('llm_model', toString(llm_model))
        ]) AS trait
    FROM records FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND service = {service:String} AND environment = {environment:String} AND backfill = ''
        AND (trace_id, record_id) NOT IN
        (
            SELECT trace_id, record_id FROM memberships FINAL
            WHERE issue_id IN {issues:Array(String)}
                AND minute >= toDateTime({since:UInt32}, 'UTC')
        )
)
WHERE trait.2 != ''
GROUP BY name, value
ORDER BY name, value
