-- Changes that began since a time, newest first; of one service or route where one is named.
SELECT *
FROM notices FINAL
WHERE since >= toDateTime64({since:UInt32}, 9, 'UTC')
    AND ({service:String} = '' OR service = {service:String})
    AND ({route:String} = '' OR route = {route:String})
ORDER BY since DESC, notice_id
LIMIT {limit:UInt32}
