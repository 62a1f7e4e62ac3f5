-- All ticks since a time, oldest first.
SELECT *
FROM rubric_deltas FINAL
WHERE tick >= toDateTime({since:UInt32}, 'UTC') AND tick <= toDateTime({until:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND ({route:String} = '' OR route = {route:String})
    AND ({rubric:String} = '' OR rubric = {rubric:String})
    AND ({layer:String} = '' OR layer = {layer:String})
    AND ({window:String} = '' OR window = {window:String})
ORDER BY tick, service, environment, route, rubric, layer, segment, window
LIMIT {limit:UInt32}
