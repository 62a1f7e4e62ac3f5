-- Questions of these traces, which are examples of topics too.
SELECT DISTINCT cityHash64(text) AS hash
FROM
(
    SELECT assumeNotNull(query) AS text FROM records
    WHERE cityHash64(trace_id) IN {hashes:Array(UInt64)} AND query IS NOT NULL
    UNION ALL
    SELECT question FROM questions WHERE cityHash64(trace_id) IN {hashes:Array(UInt64)}
)
