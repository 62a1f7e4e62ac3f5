-- The log of acts: what people did, when, and whether on a page or by the API.
CREATE TABLE IF NOT EXISTS acts {on_cluster}
(
    act_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    person String CODEC(ZSTD(1)),
    role LowCardinality(String) CODEC(ZSTD(1)),
    verb LowCardinality(String) CODEC(ZSTD(1)),
    thing String CODEC(ZSTD(1)),
    place LowCardinality(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (time, act_id)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
