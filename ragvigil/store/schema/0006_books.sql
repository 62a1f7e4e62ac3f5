-- One row per frame of the spool, when every span of it is accounted for.
CREATE TABLE IF NOT EXISTS ledger {on_cluster}
(
    replica LowCardinality(String) CODEC(ZSTD(1)),
    seq UInt64 CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    stored UInt32 CODEC(ZSTD(1)),
    duplicate UInt32 CODEC(ZSTD(1)),
    quarantined UInt32 CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree
PARTITION BY toDate(received)
ORDER BY (replica, seq)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Rows that the database refuses for good, each with its reason.
CREATE TABLE IF NOT EXISTS quarantine {on_cluster}
(
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    table LowCardinality(String) CODEC(ZSTD(1)),
    reason String CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    row String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}MergeTree
PARTITION BY toDate(time)
ORDER BY (time, table)
TTL toDate(time) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
