SELECT minute, received, time, trace_id, record_id, value
FROM scores FINAL
PREWHERE minute >= toDateTime({since:UInt32}, 'UTC')
    AND minute <= toDateTime({until:UInt32}, 'UTC')
    AND ({rubric:String} = '' OR rubric = {rubric:String})
WHERE {asks_score:UInt8} = 1
    AND time < toDateTime64({until:UInt32}, 9, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({environment:String} = '' OR environment = {environment:String})
    AND ({route:String} = '' OR route = {route:String})
    AND ({layer:String} = '' OR layer = {layer:String})
    AND ({kind:String} = '' OR kind = {kind:String})
    AND ({failed:Int8} < 0 OR (failed = {failed:Int8} AND value IS NOT NULL))
    AND ({below:Float64} < 0 OR value < {below:Float64})
    AND ({label:String} = '' OR has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))), {label:String}))
