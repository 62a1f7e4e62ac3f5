-- Who lives: a row for each daemon of a fleet, written again at every beat, with its own books.
CREATE TABLE IF NOT EXISTS members {on_cluster}
(
    replica LowCardinality(String) CODEC(ZSTD(1)),
    roles Array(LowCardinality(String)) CODEC(ZSTD(1)),
    address String CODEC(ZSTD(1)),
    acknowledged UInt64 CODEC(ZSTD(1)),
    in_spool UInt64 CODEC(ZSTD(1)),
    mismatch Int64 CODEC(ZSTD(1)),
    behind String CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    -- By the server's clock: those of the daemons differ.
    beat DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(beat)
ORDER BY replica
TTL toDate(beat) + INTERVAL 14 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
