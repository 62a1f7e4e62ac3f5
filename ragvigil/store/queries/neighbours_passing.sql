-- Those of these records that pass: no error, not imported, and of the rubric what `passed` asks. What no
-- rubric scores (`unscored`) passes where there is an answer, for it is not among the failures.
SELECT
    trace_id, record_id, toUnixTimestamp64Nano(time) AS time_nanos, route, query AS question,
    service_version, prompt_version, index_epoch, llm_model
FROM records FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
    AND ifNull(error, '') = '' AND backfill = ''
    AND
    (
        {rubric:String} = ''
        OR has({unscored:Array(String)}, {rubric:String}) AND ifNull(answer, '') != ''
        OR (trace_id, record_id) IN
        (
            SELECT trace_id, record_id FROM scores FINAL
            WHERE minute IN {minutes:Array(DateTime('UTC'))}
                AND trace_id IN {trace_ids:Array(String)} AND rubric = {rubric:String}
            @passed
        )
    )
