-- Rubrics that a person made live while the daemon ran: the text of the file, who accepted it, and the
-- issue that it guards. A daemon that starts writes old rows anew, so none of them outlives its time.
CREATE TABLE IF NOT EXISTS accepted_rubrics {on_cluster}
(
    name String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    issue_id String CODEC(ZSTD(1)),
    sentence String CODEC(ZSTD(1)),
    accepted_by String CODEC(ZSTD(1)),
    accepted DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    is_removed UInt8 CODEC(ZSTD(1)),
    removed_by String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY name
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
