-- One row an audit; each look replaces it. Results are those of its rubrics in JSON.
CREATE TABLE IF NOT EXISTS audits {on_cluster}
(
    audit_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    anchor DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    started DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ended DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    routes Array(LowCardinality(String)) CODEC(ZSTD(1)),
    since Array(Int64) CODEC(ZSTD(1)),
    sources Array(String) CODEC(ZSTD(1)),
    reason String CODEC(ZSTD(1)),
    causes Array(LowCardinality(String)) CODEC(ZSTD(1)),
    state LowCardinality(String) CODEC(ZSTD(1)),
    pairs UInt32 CODEC(ZSTD(1)),
    results String CODEC(ZSTD(1)),
    progress String CODEC(ZSTD(1)),
    why String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY audit_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Both sides of every pair by every rubric. They are in no mean: scores has none of them.
CREATE TABLE IF NOT EXISTS audit_scores {on_cluster}
(
    audit_id String CODEC(ZSTD(1)),
    pair UInt32 CODEC(ZSTD(1)),
    side LowCardinality(String) CODEC(ZSTD(1)),
    likeness Float64 CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    scorer LowCardinality(String) CODEC(ZSTD(1)),
    version LowCardinality(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (audit_id, pair, side, rubric)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
