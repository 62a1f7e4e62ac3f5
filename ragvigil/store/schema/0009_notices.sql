-- Changes of services, one row each; the same change found again replaces its row.
CREATE TABLE IF NOT EXISTS notices {on_cluster}
(
    notice_id String CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    since DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    noticed DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    requests UInt32 CODEC(ZSTD(1)),
    share Float64 CODEC(ZSTD(1)),
    before String CODEC(ZSTD(1)),
    after String CODEC(ZSTD(1)),
    evidence String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY notice_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
