-- How many requests showed each value of what notices compare, per place and minute, of the records
-- that one replica stored: counted again from these and replaced by version. Those of several
-- replicas add up. Of each kind the most frequent values are counted by name; the value '' counts
-- the others.
CREATE TABLE IF NOT EXISTS fingerprint_minutes {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    `counts.kind` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `counts.value` Array(String) CODEC(ZSTD(1)),
    `counts.requests` Array(UInt64) CODEC(ZSTD(1)),
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
