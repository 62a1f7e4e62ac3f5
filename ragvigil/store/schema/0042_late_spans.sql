-- Parts of traces that came to another edge than the rest: each daemon tells of those that it stored,
-- and whoever owns the trace scores it anew with all of its spans.
CREATE TABLE IF NOT EXISTS late_spans {on_cluster}
(
    trace_id String CODEC(ZSTD(1)),
    -- Who stored the records of the trace; empty where the teller does not know.
    owner LowCardinality(String) CODEC(ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    written DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = {replicated}MergeTree
PARTITION BY toDate(written)
ORDER BY (written, trace_id)
TTL toDate(written) + INTERVAL 14 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
