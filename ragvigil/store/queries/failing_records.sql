-- What tells how these records fail, without their texts.
SELECT
    trace_id, record_id, generation, service, environment, route, query, error, absent,
    `feedback.kind`, `feedback.value`, `feedback.comment`, `feedback.source`, `feedback.time`,
    prompt_version, index_epoch, llm_model, service_version, session_id, response_ids, span_ids,
    `context.document_id`, `context.chunk_id`,
    toUnixTimestamp(received) AS received_seconds,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM records FINAL
WHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
ORDER BY records.time, trace_id, record_id
