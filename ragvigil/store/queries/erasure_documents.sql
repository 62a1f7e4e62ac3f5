-- Texts of chunks that answers of these traces have, and no other answer.
SELECT cityHash64(name) AS hash
FROM
(
    SELECT arrayJoin(arrayConcat(`retrieved.hash`, `reranked.hash`, `context.hash`)) AS name, trace_id
    FROM records
)
GROUP BY name
HAVING min(cityHash64(trace_id) IN {hashes:Array(UInt64)})
