-- Records of some daemons that no judge has scored.
SELECT trace_id, record_id
FROM records FINAL
WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND gone = 0
    AND replica IN {replicas:Array(String)}
    AND (trace_id, record_id) NOT IN
    (
        SELECT trace_id, record_id FROM scores
        WHERE minute >= toDateTime({since:UInt32}, 'UTC') AND kind = 'judge'
    )
ORDER BY trace_id, record_id
LIMIT 100000
