-- What `ragvigil gate` said of a run that was sent here: a row for each rubric that it compared, over
-- all cases or in a slice, and one with the rubric '' for the whole, whose verdict is the gate's state
-- and whose sentences say why. Sentences name rubrics, slices and cases, and hold no text of a question
-- or an answer.
CREATE TABLE IF NOT EXISTS offline_gates {on_cluster}
(
    run_id String CODEC(ZSTD(1)),
    base_release LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    dimension LowCardinality(String) CODEC(ZSTD(1)),
    slice String CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    verdict LowCardinality(String) CODEC(ZSTD(1)),
    decides UInt8 CODEC(ZSTD(1)),
    n UInt32 CODEC(ZSTD(1)),
    base Float64 CODEC(ZSTD(1)),
    new Float64 CODEC(ZSTD(1)),
    low Float64 CODEC(ZSTD(1)),
    high Float64 CODEC(ZSTD(1)),
    allowed Float64 CODEC(ZSTD(1)),
    sentences Array(String) CODEC(ZSTD(1)),
    sender String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (run_id, rubric, dimension, slice)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
