-- The frozen records that are judged again and again; a set is chosen once and never changed.
CREATE TABLE IF NOT EXISTS canary_members {on_cluster}
(
    set_id String CODEC(ZSTD(1)),
    chosen DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    record String CODEC(ZSTD(3)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(chosen)
ORDER BY (set_id, trace_id, record_id)
TTL toDate(chosen) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- One verdict of one run; a run that is repeated after a crash replaces its rows.
CREATE TABLE IF NOT EXISTS canary_scores {on_cluster}
(
    set_id String CODEC(ZSTD(1)),
    run_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    scorer LowCardinality(String) CODEC(ZSTD(1)),
    version LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    absent LowCardinality(String) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(received)
ORDER BY (set_id, run_id, rubric, segment, trace_id, record_id)
TTL toDate(received) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
