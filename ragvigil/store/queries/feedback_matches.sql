-- Whether anything is stored that feedback names, by any of its ids. LIMIT 1 ends each search early.
SELECT count() AS records
FROM
(
    SELECT 1 FROM traces WHERE {trace_id:String} != '' AND trace_id = {trace_id:String} LIMIT 1
    UNION ALL
    SELECT 1 FROM records
    WHERE {session_id:String} != '' AND session_id = {session_id:String} LIMIT 1
    UNION ALL
    SELECT 1 FROM records
    WHERE {response_id:String} != '' AND has(response_ids, {response_id:String}) LIMIT 1
    UNION ALL
    SELECT 1 FROM spans WHERE {span_id:String} != '' AND SpanId = {span_id:String} LIMIT 1
)
