-- Deploy marks, newest first.
SELECT *
FROM deploys FINAL
WHERE time >= toDateTime({since:UInt32}, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
ORDER BY time DESC, deploy_id
LIMIT {limit:UInt32}
