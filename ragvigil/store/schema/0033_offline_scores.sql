-- Scores of golden sets that were asked before a release, and sent here. They lie apart from the
-- scores of live traffic: no mean, window or delta of it reads them. The rubric '' says whether the
-- case passed; `question` is equal for paraphrases. No text of a question or an answer is here.
CREATE TABLE IF NOT EXISTS offline_scores {on_cluster}
(
    run_id String CODEC(ZSTD(1)),
    ran DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    set_name LowCardinality(String) CODEC(ZSTD(1)),
    set_hash LowCardinality(String) CODEC(ZSTD(1)),
    target LowCardinality(String) CODEC(ZSTD(1)),
    release LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    case_id String CODEC(ZSTD(1)),
    question String CODEC(ZSTD(1)),
    condition LowCardinality(String) CODEC(ZSTD(1)),
    reading LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    value Float64 CODEC(ZSTD(1)),
    sender String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (run_id, case_id, condition, rubric)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
