-- The newest records that fail a rubric or carry a label of it; without a label, those of the most
-- extreme value.
SELECT trace_id
FROM scores FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
    AND route IN {routes:Array(String)} AND rubric = {rubric:String}
    AND stream IN ('base', 'proxy')
    AND multiIf(
        {label:String} = 'failed', failed = 1,
        {label:String} != '', has(arrayMap(part -> trimBoth(part), splitByChar(',', toString(label))), {label:String}),
        value IS NOT NULL
    )
ORDER BY if({label:String} = '', value * {direction:Int8}, 0) DESC, minute DESC, trace_id
LIMIT 5
