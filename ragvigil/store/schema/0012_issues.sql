-- Failing records, a row each; one that fails no more is gone. `digest` tells what it was read
-- from, `masked` is what its reason was embedded as. Without vectors it waits for them.
CREATE TABLE IF NOT EXISTS failures {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    family LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    rubrics Array(LowCardinality(String)) CODEC(ZSTD(1)),
    reason String CODEC(ZSTD(1)),
    masked String CODEC(ZSTD(1)),
    question Nullable(String) CODEC(ZSTD(1)),
    scorer_kind LowCardinality(String) CODEC(ZSTD(1)),
    stream LowCardinality(String) CODEC(ZSTD(1)),
    inclusion_probability Float64 CODEC(ZSTD(1)),
    service_version LowCardinality(String) CODEC(ZSTD(1)),
    prompt_version LowCardinality(String) CODEC(ZSTD(1)),
    index_epoch LowCardinality(String) CODEC(ZSTD(1)),
    llm_model LowCardinality(String) CODEC(ZSTD(1)),
    reason_vector Array(Float32) CODEC(ZSTD(1)),
    question_vector Array(Float32) CODEC(ZSTD(1)),
    vector_model LowCardinality(String) CODEC(ZSTD(1)),
    digest UInt64 CODEC(ZSTD(1)),
    is_gone UInt8 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written, is_gone)
PARTITION BY toDate(received)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- The issue of each failing record that has one.
CREATE TABLE IF NOT EXISTS memberships {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    issue_id String CODEC(ZSTD(1)),
    by LowCardinality(String) CODEC(ZSTD(1)),
    strength Float64 CODEC(ZSTD(1)),
    other_issues Array(String) CODEC(ZSTD(1)),
    other_strengths Array(Float64) CODEC(ZSTD(1)),
    is_gone UInt8 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_issue issue_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(written, is_gone)
PARTITION BY toDate(received)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- One row an issue; each change of it replaces the row.
CREATE TABLE IF NOT EXISTS issues {on_cluster}
(
    issue_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    family LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    name String CODEC(ZSTD(1)),
    state LowCardinality(String) CODEC(ZSTD(1)),
    first DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    last DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    opened DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    members UInt64 CODEC(ZSTD(1)),
    is_provisional UInt8 CODEC(ZSTD(1)),
    is_name_frozen UInt8 CODEC(ZSTD(1)),
    routes Array(LowCardinality(String)) CODEC(ZSTD(1)),
    centroid Array(Float32) CODEC(ZSTD(1)),
    vector_model LowCardinality(String) CODEC(ZSTD(1)),
    assignee String CODEC(ZSTD(1)),
    state_entered DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    resolved_in String CODEC(ZSTD(1)),
    resolved DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ignored_until DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ignored_members UInt64 CODEC(ZSTD(1)),
    merged_into String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY issue_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- What was done to issues, by people and by the daemon.
CREATE TABLE IF NOT EXISTS issue_events {on_cluster}
(
    issue_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    verb LowCardinality(String) CODEC(ZSTD(1)),
    actor String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (issue_id, time, verb, actor, text)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Issues that look alike: proposed, merged, or apart for good.
CREATE TABLE IF NOT EXISTS issue_pairs {on_cluster}
(
    kept String CODEC(ZSTD(1)),
    merged String CODEC(ZSTD(1)),
    verdict LowCardinality(String) CODEC(ZSTD(1)),
    likeness Float64 CODEC(ZSTD(1)),
    shared Float64 CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    actor String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (kept, merged)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Reports on why issues happen. Quotes, grades and the transcript are JSON.
CREATE TABLE IF NOT EXISTS root_causes {on_cluster}
(
    issue_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    by LowCardinality(String) CODEC(ZSTD(1)),
    cause String CODEC(ZSTD(1)),
    ended String CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    fix String CODEC(ZSTD(1)),
    quotes String CODEC(ZSTD(1)),
    grades String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    transcript String CODEC(ZSTD(3)),
    turns UInt32 CODEC(ZSTD(1)),
    cost_usd Nullable(Float64) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (issue_id, time)
TTL toDate(written) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- How far a reader of changing tables has come; `position` is a version of theirs.
CREATE TABLE IF NOT EXISTS checkpoints {on_cluster}
(
    reader LowCardinality(String) CODEC(ZSTD(1)),
    position UInt64 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY reader
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
