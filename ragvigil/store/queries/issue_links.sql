-- What a line about an issue says, of those in these states that were not merged, newest member first.
SELECT
    issue_id, service, environment, family, state, rubric, label, name, routes, first, last,
    members, incident_id
FROM issues FINAL
WHERE merged_into = ''
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} = '' OR has(routes, {route:String}))
    AND has({states:Array(String)}, toString(state))
ORDER BY last DESC, issue_id
LIMIT {limit:UInt32}
