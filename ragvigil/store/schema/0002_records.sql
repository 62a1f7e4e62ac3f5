-- Every text once, by the hash of its bytes. Without partitions, so that a text seen on two days
-- merges into one row; `seen` is refreshed daily and carries the TTL.
CREATE TABLE IF NOT EXISTS documents {on_cluster}
(
    hash String CODEC(ZSTD(1)),
    content String CODEC(ZSTD(3)),
    seen DateTime('UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(seen)
ORDER BY hash
TTL toDate(seen) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS records {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    entry_route LowCardinality(String) CODEC(ZSTD(1)),
    query Nullable(String) CODEC(ZSTD(1)),
    answer Nullable(String) CODEC(ZSTD(1)),
    error Nullable(String) CODEC(ZSTD(1)),
    context_source LowCardinality(String) CODEC(ZSTD(1)),
    truncated Array(LowCardinality(String)) CODEC(ZSTD(1)),
    absent Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `retrieved.chunk_id` Array(String) CODEC(ZSTD(1)),
    `retrieved.document_id` Array(String) CODEC(ZSTD(1)),
    `retrieved.hash` Array(String) CODEC(ZSTD(1)),
    `retrieved.score` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `retrieved.rank` Array(UInt32) CODEC(ZSTD(1)),
    `retrieved.metadata` Array(String) CODEC(ZSTD(1)),
    `reranked.chunk_id` Array(String) CODEC(ZSTD(1)),
    `reranked.document_id` Array(String) CODEC(ZSTD(1)),
    `reranked.hash` Array(String) CODEC(ZSTD(1)),
    `reranked.score` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `reranked.rank` Array(UInt32) CODEC(ZSTD(1)),
    `reranked.metadata` Array(String) CODEC(ZSTD(1)),
    `context.chunk_id` Array(String) CODEC(ZSTD(1)),
    `context.document_id` Array(String) CODEC(ZSTD(1)),
    `context.hash` Array(String) CODEC(ZSTD(1)),
    `context.score` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `context.rank` Array(UInt32) CODEC(ZSTD(1)),
    `context.metadata` Array(String) CODEC(ZSTD(1)),
    `retrievals.span_id` Array(String) CODEC(ZSTD(1)),
    `retrievals.query` Array(Nullable(String)) CODEC(ZSTD(1)),
    `retrievals.chunk_ids` Array(Array(String)) CODEC(ZSTD(1)),
    `citations.target` Array(String) CODEC(ZSTD(1)),
    `citations.chunk_id` Array(Nullable(String)) CODEC(ZSTD(1)),
    `citations.document_id` Array(String) CODEC(ZSTD(1)),
    `citations.index` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.marker` Array(String) CODEC(ZSTD(1)),
    `citations.quote` Array(Nullable(String)) CODEC(ZSTD(1)),
    `citations.start` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.end` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.claim_start` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.claim_end` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.style` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `feedback.kind` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `feedback.value` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `feedback.comment` Array(String) CODEC(ZSTD(1)),
    `feedback.source` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `feedback.time` Array(Int64) CODEC(ZSTD(1)),
    input_tokens Nullable(Int64) CODEC(ZSTD(1)),
    output_tokens Nullable(Int64) CODEC(ZSTD(1)),
    cache_read_tokens Nullable(Int64) CODEC(ZSTD(1)),
    reasoning_tokens Nullable(Int64) CODEC(ZSTD(1)),
    cost_usd Nullable(Float64) CODEC(ZSTD(1)),
    latency_total Nullable(Float64) CODEC(ZSTD(1)),
    latency_retrieval Nullable(Float64) CODEC(ZSTD(1)),
    latency_rerank Nullable(Float64) CODEC(ZSTD(1)),
    latency_generation Nullable(Float64) CODEC(ZSTD(1)),
    latency_first_token Nullable(Float64) CODEC(ZSTD(1)),
    llm_model LowCardinality(String) CODEC(ZSTD(1)),
    embedding_model LowCardinality(String) CODEC(ZSTD(1)),
    reranker_model LowCardinality(String) CODEC(ZSTD(1)),
    prompt_version LowCardinality(String) CODEC(ZSTD(1)),
    index_epoch LowCardinality(String) CODEC(ZSTD(1)),
    temperature Nullable(Float64) CODEC(ZSTD(1)),
    max_tokens Nullable(Int64) CODEC(ZSTD(1)),
    finish_reason LowCardinality(String) CODEC(ZSTD(1)),
    top_k Nullable(Int64) CODEC(ZSTD(1)),
    service_version LowCardinality(String) CODEC(ZSTD(1)),
    tenant LowCardinality(String) CODEC(ZSTD(1)),
    locale LowCardinality(String) CODEC(ZSTD(1)),
    slice LowCardinality(String) CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    response_ids Array(String) CODEC(ZSTD(1)),
    span_ids Array(String) CODEC(ZSTD(1)),
    started DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ended DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    instrumentors Array(LowCardinality(String)) CODEC(ZSTD(1)),
    conventions Array(LowCardinality(String)) CODEC(ZSTD(1)),
    sampling_probability Nullable(Float64) CODEC(ZSTD(1)),
    backfill LowCardinality(String) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    gone UInt8 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_trace_id trace_id TYPE bloom_filter(0.001) GRANULARITY 8,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_response response_ids TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(generation, gone)
PARTITION BY toDate(received)
PRIMARY KEY (minute, trace_id)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
-- Compact parts: a wide one would hold buffers of 2 MB for each of 130 streams while it is written.
SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Measurements, not scores; an unknown one has no key in `measures`.
CREATE TABLE IF NOT EXISTS record_shapes {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    measures Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    gone UInt8 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(generation, gone)
PARTITION BY toDate(received)
PRIMARY KEY (minute, trace_id)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
