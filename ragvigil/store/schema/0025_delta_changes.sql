-- Every change of a delta, tick by tick, for a few days: `rubric_deltas` has a row an hour from now on.
-- A full hour has a row of every window with scores; between them a row stands until the next of its
-- series and window. `digest` names the numbers of a row, 0 where the window holds nothing any more.
CREATE TABLE IF NOT EXISTS delta_changes {on_cluster}
(
    tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    window LowCardinality(String) CODEC(ZSTD(1)),
    computed DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    closed UInt8 CODEC(ZSTD(1)),
    n Int64 CODEC(ZSTD(1)),
    n_effective Float64 CODEC(ZSTD(1)),
    failed Int64 CODEC(ZSTD(1)),
    coverage Nullable(Float64) CODEC(ZSTD(1)),
    mean Nullable(Float64) CODEC(ZSTD(1)),
    baseline Nullable(Float64) CODEC(ZSTD(1)),
    baseline_kind LowCardinality(String) CODEC(ZSTD(1)),
    baseline_n Int64 CODEC(ZSTD(1)),
    delta Nullable(Float64) CODEC(ZSTD(1)),
    low Nullable(Float64) CODEC(ZSTD(1)),
    high Nullable(Float64) CODEC(ZSTD(1)),
    release_baseline Nullable(Float64) CODEC(ZSTD(1)),
    release_delta Nullable(Float64) CODEC(ZSTD(1)),
    release_low Nullable(Float64) CODEC(ZSTD(1)),
    release_high Nullable(Float64) CODEC(ZSTD(1)),
    overdispersion Float64 CODEC(ZSTD(1)),
    detection_limit Nullable(Float64) CODEC(ZSTD(1)),
    sustained_drop UInt8 CODEC(ZSTD(1)),
    moved LowCardinality(String) CODEC(ZSTD(1)),
    since Nullable(Int64) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    digest UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(computed)
PARTITION BY toDate(tick)
ORDER BY (tick, service, environment, route, rubric, layer, segment, window)
TTL toDate(tick) + INTERVAL 3 DAY
SETTINGS min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- How far ticks have come was read off the rows themselves, which are now fewer than the ticks.
INSERT INTO checkpoints (reader, position, written, replica, epoch)
SELECT 'deltas', toUnixTimestamp(maxIf(tick, closed = 1)), max(computed), '', 0
FROM rubric_deltas
HAVING count() > 0;

INSERT INTO delta_changes (* EXCEPT (digest))
SELECT * FROM rubric_deltas FINAL WHERE tick >= now() - INTERVAL 2 DAY;

ALTER TABLE rubric_deltas {on_cluster} DELETE WHERE toMinute(tick) != 0;
