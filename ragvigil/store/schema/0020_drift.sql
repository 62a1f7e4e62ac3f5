-- What the detector of sustained drops knows of each series; a tick replaces the rows that it changed.
CREATE TABLE IF NOT EXISTS drift_states {on_cluster}
(
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    numbers Array(Float64) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (service, environment, route, rubric, layer, segment)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Routes that are judged more for a while: the judge reads them, whoever asked.
CREATE TABLE IF NOT EXISTS sampling_overrides {on_cluster}
(
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rate Float64 CODEC(ZSTD(1)),
    until DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (service, environment, route)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
