-- Live records of these minutes that lack a score by one of these rubrics, oldest first. A score of an
-- earlier generation of a record counts as none.
SELECT trace_id, record_id
FROM records FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND backfill = ''
    AND (trace_id, record_id, generation) NOT IN
    (
        SELECT trace_id, record_id, generation FROM scores FINAL
        WHERE minute IN {minutes:Array(DateTime('UTC'))} AND rubric IN {rubrics:Array(String)}
        GROUP BY trace_id, record_id, generation
        HAVING uniqExact(rubric) >= length({rubrics:Array(String)})
    )
ORDER BY minute, trace_id, record_id
LIMIT {limit:UInt32}
