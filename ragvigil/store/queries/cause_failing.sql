-- A random sample of an issue's members, the same each time, with their dimensions.
SELECT
    trace_id, record_id, toUnixTimestamp64Nano(time) AS time_nanos, route, query,
    llm_model, embedding_model, reranker_model, prompt_version, index_epoch, temperature, max_tokens,
    finish_reason, top_k, service_version, tenant, locale, slice
FROM records FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
    AND (trace_id, record_id) IN (
        SELECT trace_id, record_id FROM memberships FINAL
        WHERE issue_id IN {issue_ids:Array(String)}
            AND minute >= toDateTime({first:UInt32}, 'UTC')
            AND minute <= toDateTime({last:UInt32}, 'UTC')
    )
ORDER BY cityHash64(trace_id, record_id)
LIMIT {limit:UInt32}
