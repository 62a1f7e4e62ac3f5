-- What was erased, by hashes alone: they keep a trace that is sent again from being stored again.
CREATE TABLE IF NOT EXISTS erasures {on_cluster}
(
    erasure_id String CODEC(ZSTD(1)),
    asked DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    subject String CODEC(ZSTD(1)),
    traces Array(String) CODEC(ZSTD(1)),
    last_seq UInt64 CODEC(ZSTD(1)),
    state LowCardinality(String) CODEC(ZSTD(1)),
    step String CODEC(ZSTD(1)),
    rows String CODEC(ZSTD(1)),
    golden_cases Array(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY erasure_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
