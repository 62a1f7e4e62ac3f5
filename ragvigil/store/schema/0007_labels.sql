-- What people said of answers, rubric by rubric; paired with the judges' verdicts when read.
CREATE TABLE IF NOT EXISTS labels {on_cluster}
(
    label_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label String CODEC(ZSTD(1)),
    labeller String CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    comment String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(received)
ORDER BY label_id
TTL toDate(received) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
