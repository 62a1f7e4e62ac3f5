-- The time, route and dimensions of these records; narrowed as in record_rows.sql.
SELECT
    trace_id, record_id, toUnixTimestamp64Nano(time) AS time_nanos, toString(route) AS route,
    llm_model, embedding_model, reranker_model, prompt_version, index_epoch, temperature, max_tokens,
    finish_reason, top_k, service_version, tenant, locale, slice
FROM records FINAL
PREWHERE minute IN {minutes:Array(DateTime('UTC'))} AND trace_id IN {trace_ids:Array(String)}
WHERE toDate(received) >= toDate(toDateTime({received:UInt32}, 'UTC'))
