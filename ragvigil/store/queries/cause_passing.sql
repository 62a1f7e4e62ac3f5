-- A random sample, the same each time, of records of these routes that fail nothing, with their
-- dimensions. Records that pass the rubric come first: less is known of the others.
SELECT
    trace_id, record_id, toUnixTimestamp64Nano(time) AS time_nanos, route, query,
    llm_model, embedding_model, reranker_model, prompt_version, index_epoch, temperature, max_tokens,
    finish_reason, top_k, service_version, tenant, locale, slice
FROM records FINAL
WHERE minute >= toDateTime({first:UInt32}, 'UTC') AND minute <= toDateTime({last:UInt32}, 'UTC')
    AND service = {service:String} AND environment = {environment:String}
    AND (empty({routes:Array(String)}) OR has({routes:Array(String)}, toString(route)))
    AND ifNull(error, '') = '' AND backfill = ''
    AND (trace_id, record_id) NOT IN (
        SELECT trace_id, record_id FROM failures FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC')
            AND minute <= toDateTime({last:UInt32}, 'UTC')
            AND service = {service:String} AND environment = {environment:String}
    )
ORDER BY
    (trace_id, record_id) IN (
        SELECT trace_id, record_id FROM scores FINAL
        WHERE minute >= toDateTime({first:UInt32}, 'UTC')
            AND minute <= toDateTime({last:UInt32}, 'UTC')
            AND service = {service:String} AND environment = {environment:String}
            AND rubric = {rubric:String}
        @passed
    ) DESC,
    cityHash64(trace_id, record_id)
LIMIT {limit:UInt32}
