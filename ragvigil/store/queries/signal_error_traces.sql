-- The newest records with an error.
SELECT trace_id
FROM records FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute < toDateTime({end:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
    AND route IN {routes:Array(String)} AND ifNull(error, '') != ''
ORDER BY minute DESC, trace_id
LIMIT 5
