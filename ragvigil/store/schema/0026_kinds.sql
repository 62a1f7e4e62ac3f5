-- Who scored a series: code, a model, a judge or a human; empty in older rows.
ALTER TABLE rollups {on_cluster}
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

ALTER TABLE rubric_deltas {on_cluster}
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

ALTER TABLE delta_changes {on_cluster}
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

ALTER TABLE drift_states {on_cluster}
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

-- The roll-ups of what local scorers say of a judge's rubrics: beside the judged ones, never in them.
CREATE TABLE IF NOT EXISTS proxy_rollups {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
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
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(version)
PARTITION BY toYYYYMM(minute)
ORDER BY (minute, service, environment, route, rubric, layer, segment)
TTL toDate(minute) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
