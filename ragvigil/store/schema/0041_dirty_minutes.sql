-- Minutes whose roll-ups are out of date: each daemon writes them behind the rows that made them so,
-- and the analyst reads them.
CREATE TABLE IF NOT EXISTS dirty_minutes {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    -- Of the batch: whoever reads some rows again knows by it which he has read.
    token String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    written DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = {replicated}MergeTree
PARTITION BY toDate(written)
ORDER BY written
TTL toDate(written) + INTERVAL 14 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
