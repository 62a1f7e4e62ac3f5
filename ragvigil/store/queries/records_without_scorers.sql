-- Live records of these minutes without a score by any of these scorers, newest first; where daemons are
-- named, only theirs. A score of an earlier generation of a record counts as none.
SELECT trace_id, record_id, generation, toUnixTimestamp(minute) AS minute_seconds
FROM records FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND gone = 0 AND backfill = ''
    AND (empty({replicas:Array(String)}) OR has({replicas:Array(String)}, replica))
    AND (trace_id, record_id, generation) NOT IN
    (
        SELECT trace_id, record_id, generation FROM scores
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND scorer IN {scorers:Array(String)}
    )
ORDER BY time DESC, trace_id, record_id
LIMIT 100000
