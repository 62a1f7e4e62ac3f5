-- Sums of the signals per place and minute, of the records that one replica stored: counted again
-- from these and replaced by version. Those of several replicas add up.
CREATE TABLE IF NOT EXISTS signal_minutes {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    `sums.signal` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `sums.segment` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `sums.n` Array(Float64) CODEC(ZSTD(1)),
    `sums.total` Array(Float64) CODEC(ZSTD(1)),
    `sums.squares` Array(Float64) CODEC(ZSTD(1)),
    -- What was counted: another choice of signals, or another ceiling, makes other sums.
    form LowCardinality(String) CODEC(ZSTD(1)),
    -- The newest version of the roll-ups that was known when it was counted.
    rolled_up UInt64 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_version version TYPE minmax GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(version)
ORDER BY (minute, service, environment, route, replica)
TTL toDate(minute) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
