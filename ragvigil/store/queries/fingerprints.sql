-- What the newest records of every route show of their service's setup, oldest first; without those
-- of the writer that asks.
WITH newest AS
(
    SELECT *
    FROM records FINAL
    WHERE minute >= toDateTime({since:UInt32}, 'UTC')
        AND NOT (replica = {replica:String} AND epoch = {epoch:UInt32})
    ORDER BY time DESC
    LIMIT {each:UInt32} BY service, environment, route
    LIMIT {limit:UInt32}
)
SELECT
    trace_id, record_id, service, environment, route, query, error,
    absent, prompt_template, instrumentors,
    `retrieved.chunk_id`, `retrieved.document_id`, `retrieved.hash`, `retrieved.score`,
    `reranked.chunk_id`, `reranked.document_id`, `reranked.hash`, `reranked.score`,
    `context.chunk_id`, `context.document_id`, `context.hash`, `context.score`,
    llm_model, embedding_model, reranker_model, prompt_version, index_epoch, temperature,
    max_tokens, top_k, service_version, tenant, locale,
    toUnixTimestamp64Nano(time) AS time_nanos
FROM newest
ORDER BY time_nanos, trace_id, record_id
