-- The newest roll-ups of a route. Without FINAL, which would read those of all routes.
SELECT minute, service, environment, route, rubric, layer, segment, n, total, squares, failed, histogram, labels
FROM rollups
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND route = {route:String}
    AND (empty({rubrics:Array(String)}) OR rubric IN {rubrics:Array(String)})
ORDER BY version DESC
LIMIT 1 BY minute, service, environment, route, rubric, layer, segment
