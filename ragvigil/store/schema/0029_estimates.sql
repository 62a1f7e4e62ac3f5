-- What judged means are corrected by: sums over the judged answers of five minutes, and over the cheap
-- scores of all answers (an empty segment); see `alerts/deltas/two_phase.py` for their order.
CREATE TABLE IF NOT EXISTS judged_sums {on_cluster}
(
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    sums Array(Float64) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
PARTITION BY toYYYYMM(start)
ORDER BY (start, service, environment, route, rubric, layer, segment)
TTL toDate(start) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Answers of five minutes on a route, and how crowded their questions are: summed over the answers,
-- how often its question was asked in that hour, against the median question.
CREATE TABLE IF NOT EXISTS question_sums {on_cluster}
(
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    answers UInt64 CODEC(ZSTD(1)),
    crowding Float64 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
PARTITION BY toYYYYMM(start)
ORDER BY (start, service, environment, route)
TTL toDate(start) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Which mean a delta is of, the mean of what was scored beside it, and the share of answers judged.
ALTER TABLE rubric_deltas {on_cluster}
    ADD COLUMN IF NOT EXISTS estimate LowCardinality(String) CODEC(ZSTD(1)) AFTER mean,
    ADD COLUMN IF NOT EXISTS plain_mean Nullable(Float64) CODEC(ZSTD(1)) AFTER estimate,
    ADD COLUMN IF NOT EXISTS judged_share Nullable(Float64) CODEC(ZSTD(1)) AFTER plain_mean;

ALTER TABLE delta_changes {on_cluster}
    ADD COLUMN IF NOT EXISTS estimate LowCardinality(String) CODEC(ZSTD(1)) AFTER mean,
    ADD COLUMN IF NOT EXISTS plain_mean Nullable(Float64) CODEC(ZSTD(1)) AFTER estimate,
    ADD COLUMN IF NOT EXISTS judged_share Nullable(Float64) CODEC(ZSTD(1)) AFTER plain_mean;
