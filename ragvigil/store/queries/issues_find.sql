-- Issues that match, the one with the newest member first. Merged ones are left out, except by id.
SELECT
    issue_id, service, environment, family, rubric, label, name, state, members, is_provisional,
    is_name_frozen, routes, if({with_centroids:Bool}, centroid, []) AS centroid, vector_model,
    assignee, resolved_in, ignored_members, merged_into,
    toUnixTimestamp64Nano(first) AS first_nanos,
    toUnixTimestamp64Nano(last) AS last_nanos,
    toUnixTimestamp64Nano(opened) AS opened_nanos,
    toUnixTimestamp64Nano(state_entered) AS state_nanos,
    toUnixTimestamp64Nano(resolved) AS resolved_nanos,
    toUnixTimestamp64Nano(ignored_until) AS ignored_until_nanos
FROM issues FINAL
WHERE ({issue_id:String} = '' OR issue_id = {issue_id:String})
    AND (merged_into = '' OR {with_merged:Bool} OR issue_id = {issue_id:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND ({family:String} = '' OR family = {family:String})
    AND (empty({states:Array(String)}) OR has({states:Array(String)}, toString(state)))
    AND ({route:String} = '' OR has(routes, {route:String}))
    AND ({text:String} = '' OR positionCaseInsensitiveUTF8(name, {text:String}) > 0 OR issue_id = {text:String})
ORDER BY last DESC, issue_id
LIMIT {limit:UInt32}
