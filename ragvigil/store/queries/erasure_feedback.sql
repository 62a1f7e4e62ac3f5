-- Feedback on answers of these traces, by any id that it names, or on this session.
WITH ids AS
(
    SELECT cityHash64(arrayJoin(arrayConcat(response_ids, span_ids, [record_id]))) AS id
    FROM records
    WHERE cityHash64(trace_id) IN {hashes:Array(UInt64)}
)
SELECT cityHash64(feedback_id) AS hash
FROM feedback
WHERE cityHash64(trace_id) IN {hashes:Array(UInt64)}
    OR (session_id != '' AND session_id = {session:String})
    OR (response_id != '' AND cityHash64(response_id) IN ids)
    OR (span_id != '' AND cityHash64(span_id) IN ids)
