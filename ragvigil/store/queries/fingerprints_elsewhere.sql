-- What the records of some minutes that others stored show of their service's setup, oldest first.
WITH elsewhere AS
(
    SELECT *
    FROM records FINAL
    WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
        AND toUnixTimestamp(minute) IN {minutes:Array(UInt32)}
        AND gone = 0 AND replica != {replica:String}
    ORDER BY time
    LIMIT {each:UInt32} BY minute, service, environment, route
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
FROM elsewhere
ORDER BY time_nanos, trace_id, record_id
