-- Whether anything of a service is stored from before a minute.
SELECT 1 AS is_stored
FROM rollups
WHERE minute < toDateTime({minute:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
LIMIT 1
