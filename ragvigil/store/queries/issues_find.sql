-- Issues that match, the one with the newest member first. Merged ones are left out, except by id.
-- Centroids are hundreds of numbers each, which pages do not show.
SELECT * REPLACE (if({with_centroids:Bool}, centroid, []) AS centroid)
FROM issues FINAL
WHERE ({issue_id:String} = '' OR issue_id = {issue_id:String})
    AND (merged_into = '' OR {with_merged:Bool} OR issue_id = {issue_id:String})
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND ({family:String} = '' OR family = {family:String})
    AND (empty({states:Array(String)}) OR has({states:Array(String)}, toString(state)))
    AND ({route:String} = '' OR has(routes, {route:String}))
    AND ({text:String} = '' OR positionCaseInsensitiveUTF8(name, {text:String}) > 0 OR issue_id = {text:String})
    AND ({owner:String} = '' OR assignee = if({owner:String} = 'nobody', '', {owner:String}))
    AND ({since:UInt32} = 0 OR last >= toDateTime64({since:UInt32}, 9, 'UTC'))
    AND ({until:UInt32} = 0 OR first < toDateTime64({until:UInt32}, 9, 'UTC'))
ORDER BY last DESC, issue_id
LIMIT {limit:UInt32}
