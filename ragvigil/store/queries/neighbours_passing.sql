-- Those of these records that pass: no error, not imported, and scored by the rubric without failing.
SELECT
    trace_id, record_id, toUnixTimestamp64Nano(time) AS time_nanos, route, query AS question,
    service_version, prompt_version, index_epoch, llm_model
FROM records FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND ifNull(error, '') = '' AND backfill = ''
    AND
    (
        {rubric:String} = ''
        OR (trace_id, record_id) IN
        (
            SELECT trace_id, record_id FROM scores FINAL
            WHERE minute IN {minutes:Array(DateTime('UTC'))}
                AND trace_id IN {trace_ids:Array(String)}
                AND rubric = {rubric:String} AND value IS NOT NULL AND failed = 0
        )
    )
