-- Audits that started since a time, newest first; of one service where one is named.
SELECT *
FROM audits FINAL
WHERE started >= toDateTime64({since:UInt32}, 9, 'UTC')
    AND ({audit_id:String} = '' OR audit_id = {audit_id:String})
    AND ({service:String} = '' OR service = {service:String})
ORDER BY started DESC, audit_id
LIMIT {limit:UInt32}
