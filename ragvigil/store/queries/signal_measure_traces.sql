-- Records with the most extreme values of a measure.
SELECT trace_id
FROM record_shapes FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
    AND route IN {routes:Array(String)} AND mapContains(measures, {measure:String})
ORDER BY measures[{measure:String}] * {direction:Int8} DESC, minute DESC, trace_id
LIMIT 5
