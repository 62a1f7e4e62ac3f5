-- Labels that match, newest first; of one that was taken back, only its id is left.
SELECT *
FROM labels FINAL
WHERE time >= toDateTime64({since:UInt32}, 9, 'UTC')
    AND (value IS NOT NULL OR label != '')
    AND ({label_id:String} = '' OR label_id = {label_id:String})
    AND ({rubric:String} = '' OR rubric = {rubric:String})
    AND ({trace_id:String} = '' OR trace_id = {trace_id:String})
    AND ({labeller:String} = '' OR labeller = {labeller:String})
ORDER BY time DESC, label_id
LIMIT {limit:UInt32}
