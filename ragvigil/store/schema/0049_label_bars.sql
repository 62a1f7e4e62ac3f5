-- Under which value a local model's score has its label, learned from the healthy answers of a route, or of
-- all routes of a service (an empty route). Rows are never changed: the newest that holds at an answer's
-- time is used, so that a start and a replay find the same.
CREATE TABLE IF NOT EXISTS label_bars {on_cluster}
(
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    holds_from DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    below Float64 CODEC(ZSTD(1)),
    answers UInt64 CODEC(ZSTD(1)),
    since DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (service, environment, route, rubric, segment, holds_from)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
