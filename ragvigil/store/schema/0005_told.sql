-- What people and pipelines tell us; the records that feedback belongs to are found when read.
CREATE TABLE IF NOT EXISTS feedback {on_cluster}
(
    feedback_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    comment String CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    response_id String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_span span_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_response response_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(received)
ORDER BY feedback_id
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS deploys {on_cluster}
(
    deploy_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    version String CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    description String CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(received)
ORDER BY deploy_id
TTL toDate(received) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
