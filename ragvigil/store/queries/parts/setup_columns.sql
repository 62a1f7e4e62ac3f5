-- What a record shows of its service's setup, and when; `FROM` follows.
SELECT
    trace_id, record_id, service, environment, route, query, error,
    absent, prompt_template, instrumentors,
    `retrieved.chunk_id`, `retrieved.document_id`, `retrieved.hash`, `retrieved.score`,
    `reranked.chunk_id`, `reranked.document_id`, `reranked.hash`, `reranked.score`,
    `context.chunk_id`, `context.document_id`, `context.hash`, `context.score`,
    llm_model, embedding_model, reranker_model, prompt_version, index_epoch, temperature,
    max_tokens, top_k, service_version, tenant, locale,
    toUnixTimestamp64Nano(time) AS time_nanos
