-- `minute` is the trace's pinned time, equal over all generations: a time range is a prefix of
-- the key, and the row of a trace in `traces` says under which minute its scores lie.
CREATE TABLE IF NOT EXISTS scores {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    scorer LowCardinality(String) CODEC(ZSTD(1)),
    version LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    stream LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    explanation String CODEC(ZSTD(1)),
    details String CODEC(ZSTD(1)),
    absent LowCardinality(String) CODEC(ZSTD(1)),
    failed UInt8 CODEC(ZSTD(1)),
    inclusion_probability Float64 CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    gone UInt8 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    -- Grouping millions of rows by one number takes half the time of grouping by six names.
    series UInt64 MATERIALIZED cityHash64(service, environment, route, rubric, layer, segment) CODEC(ZSTD(1)),
    INDEX idx_trace_id trace_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(generation, gone)
PARTITION BY toDate(received)
PRIMARY KEY (minute, trace_id)
ORDER BY (minute, trace_id, record_id, rubric, scorer, segment, stream)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- One row per closed trace, written last: it proves that everything of its generation is stored.
-- A late arrival of fewer spans has a row of its own (`late`), so that it cannot hide the first.
CREATE TABLE IF NOT EXISTS traces {on_cluster}
(
    trace_id String CODEC(ZSTD(1)),
    late UInt8 CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    outcome LowCardinality(String) CODEC(ZSTD(1)),
    closed LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    record_ids Array(String) CODEC(ZSTD(1)),
    backfill LowCardinality(String) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_time time TYPE minmax GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(generation)
PARTITION BY toDate(received)
ORDER BY (trace_id, late)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Counts per series and minute, recomputed from `scores` and replaced by version.
CREATE TABLE IF NOT EXISTS rollups {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    n UInt64 CODEC(ZSTD(1)),
    total Float64 CODEC(ZSTD(1)),
    squares Float64 CODEC(ZSTD(1)),
    failed UInt64 CODEC(ZSTD(1)),
    not_applicable UInt64 CODEC(ZSTD(1)),
    absent UInt64 CODEC(ZSTD(1)),
    histogram Array(UInt64) CODEC(ZSTD(1)),
    labels Map(String, UInt64) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_version version TYPE minmax GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(minute)
ORDER BY (minute, service, environment, route, rubric, layer, segment)
TTL toDate(minute) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
