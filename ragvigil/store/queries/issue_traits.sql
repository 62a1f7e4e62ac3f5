-- The routes and versions with which members of issues failed, the commonest first, and of how many
-- members each kind of them is known.
SELECT
    trait.1 AS name, trait.2 AS value, count() AS members,
    sum(count()) OVER (PARTITION BY name) AS of_members,
    toUnixTimestamp64Nano(min(failed.time)) AS first_nanos,
    toUnixTimestamp64Nano(max(failed.time)) AS last_nanos
FROM
(
    SELECT
        failures.time AS time,
        arrayJoin([
            ('route', toString(route)),
            ('service_version', toString(service_version)),
            ('prompt_version', toString(prompt_version)),
            ('index_epoch', toString(index_epoch)),
            ('llm_model', toString(llm_model))
        ]) AS trait
    FROM failures FINAL
    WHERE (trace_id, record_id) IN
    (
        SELECT trace_id, record_id FROM memberships FINAL WHERE issue_id IN {issues:Array(String)}
    )
) AS failed
WHERE trait.2 != ''
GROUP BY name, value
ORDER BY members DESC, last_nanos DESC, name, value
LIMIT {limit:UInt32} BY name
