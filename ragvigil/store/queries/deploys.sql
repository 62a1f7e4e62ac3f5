SELECT
    deploy_id AS id, service, environment, version, kind, description, source,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM deploys FINAL
WHERE time >= toDateTime({since:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
ORDER BY time DESC, id
LIMIT {limit:UInt32}
