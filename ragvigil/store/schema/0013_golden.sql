-- Golden cases: one row a revision; the next step of its state replaces it, whatever a clock says. The
-- body is the case in JSON.
CREATE TABLE IF NOT EXISTS golden_cases {on_cluster}
(
    case_id String CODEC(ZSTD(1)),
    revision UInt32 CODEC(ZSTD(1)),
    step UInt8 CODEC(ZSTD(1)),
    state LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    query_type LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    issue_id String CODEC(ZSTD(1)),
    body String CODEC(ZSTD(3)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(step)
ORDER BY (case_id, revision)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- What was done to golden cases, by people and by the daemon.
CREATE TABLE IF NOT EXISTS golden_events {on_cluster}
(
    case_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    verb LowCardinality(String) CODEC(ZSTD(1)),
    revision UInt32 CODEC(ZSTD(1)),
    actor String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (case_id, time, verb, revision)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Runs of signed cases, against the service or their stored traces.
CREATE TABLE IF NOT EXISTS golden_runs {on_cluster}
(
    case_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    against LowCardinality(String) CODEC(ZSTD(1)),
    is_pass Nullable(UInt8) CODEC(ZSTD(1)),
    why String CODEC(ZSTD(1)),
    answer String CODEC(ZSTD(3)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (case_id, time)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
