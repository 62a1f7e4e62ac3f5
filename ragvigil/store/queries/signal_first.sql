-- The first minute of which anything of a service is stored.
SELECT toUnixTimestamp(minute) AS seconds
FROM rollups
WHERE service = {service:String} AND environment = {environment:String}
ORDER BY minute
LIMIT 1
