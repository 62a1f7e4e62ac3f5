-- Feedback on these answers. It is matched when it is read: it may come before its answer or after.
SELECT
    kind, value, comment, source, trace_id, span_id, session_id, response_id,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM feedback FINAL
WHERE trace_id IN {trace_ids:Array(String)}
    OR (span_id != '' AND span_id IN {span_ids:Array(String)})
    OR (session_id != '' AND session_id IN {session_ids:Array(String)})
    OR (response_id != '' AND response_id IN {response_ids:Array(String)})
ORDER BY time
