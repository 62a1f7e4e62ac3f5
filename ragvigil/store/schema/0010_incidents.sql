-- Findings as the incidents hold them: one row a finding and incident; seen again, it is replaced.
CREATE TABLE IF NOT EXISTS findings {on_cluster}
(
    incident_id String CODEC(ZSTD(1)),
    finding_id String CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    routes Array(LowCardinality(String)) CODEC(ZSTD(1)),
    signal LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    causes Array(LowCardinality(String)) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    reference Nullable(Float64) CODEC(ZSTD(1)),
    low Nullable(Float64) CODEC(ZSTD(1)),
    high Nullable(Float64) CODEC(ZSTD(1)),
    n Int64 CODEC(ZSTD(1)),
    since DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    seen DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    cleared DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    traces Array(String) CODEC(ZSTD(1)),
    words String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (incident_id, finding_id)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- One row an incident; each change of it replaces the row. Suspects are notices in JSON.
CREATE TABLE IF NOT EXISTS incidents {on_cluster}
(
    incident_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    state LowCardinality(String) CODEC(ZSTD(1)),
    severity LowCardinality(String) CODEC(ZSTD(1)),
    opened DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    since DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    suspects String CODEC(ZSTD(3)),
    cause LowCardinality(String) CODEC(ZSTD(1)),
    paged DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    resolved DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    snoozed_until DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    assignee String CODEC(ZSTD(1)),
    is_false_page UInt8 CODEC(ZSTD(1)),
    is_expected UInt8 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY incident_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- What was done to incidents, by people and by the daemon.
CREATE TABLE IF NOT EXISTS incident_events {on_cluster}
(
    incident_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    verb LowCardinality(String) CODEC(ZSTD(1)),
    actor String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (incident_id, time, verb, actor, text)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
