-- Sums of scores by hour and slice of the traffic (a tenant's tier, a language, a topic, ...), of the
-- uniform sample. The rubric '' counts answers; the dimension '' holds all of them. Of a dimension's
-- values the most frequent of an hour have a row of their own, the others share '__other__'.
CREATE TABLE IF NOT EXISTS slice_sums {on_cluster}
(
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    dimension LowCardinality(String) CODEC(ZSTD(1)),
    value LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    n UInt64 CODEC(ZSTD(1)),
    total Float64 CODEC(ZSTD(1)),
    squares Float64 CODEC(ZSTD(1)),
    failed UInt64 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
PARTITION BY toYYYYMM(start)
ORDER BY (start, service, environment, dimension, value, rubric, layer, segment)
TTL toDate(start) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
