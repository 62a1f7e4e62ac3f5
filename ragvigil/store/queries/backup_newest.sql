-- How far the newest backup of this name is.
SELECT toString(status) AS state, error AS problem
FROM system.backups
WHERE name = {name:String}
ORDER BY start_time DESC
LIMIT 1
