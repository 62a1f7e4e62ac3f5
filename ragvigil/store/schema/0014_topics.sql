-- What users said of answers, one row a rated record; the worst word counts. What was said of a
-- session is about no single answer. Ask for a range of minutes: it is a prefix of the records' key.
CREATE VIEW IF NOT EXISTS ratings {on_cluster} AS
SELECT minute, service, environment, route, trace_id, record_id, min(value) AS worst
FROM
(
    SELECT
        minute, service, environment, route, trace_id, record_id,
        arrayJoin(arrayFilter(value -> value IS NOT NULL, `feedback.value`)) AS value
    FROM records FINAL
    UNION ALL
    SELECT
        records.minute, records.service, records.environment, records.route, records.trace_id,
        records.record_id, told.value AS value
    FROM
    (
        SELECT minute, service, environment, route, trace_id, record_id FROM records FINAL
    ) AS records
    INNER JOIN
    (
        SELECT trace_id, value
        FROM feedback FINAL
        WHERE trace_id != '' AND span_id = '' AND response_id = '' AND value IS NOT NULL
    ) AS told ON told.trace_id = records.trace_id
    UNION ALL
    SELECT
        records.minute, records.service, records.environment, records.route, records.trace_id,
        records.record_id, told.value AS value
    FROM
    (
        SELECT
            minute, service, environment, route, trace_id, record_id,
            arrayJoin(arrayConcat(response_ids, span_ids, [record_id])) AS named
        FROM records FINAL
    ) AS records
    INNER JOIN
    (
        SELECT if(response_id != '', response_id, span_id) AS named, value
        FROM feedback FINAL
        WHERE (response_id != '' OR span_id != '') AND value IS NOT NULL
    ) AS told ON told.named = records.named
)
GROUP BY minute, service, environment, route, trace_id, record_id;

-- Questions with their vectors: of a hash sample of all records, and of those that users rated.
CREATE TABLE IF NOT EXISTS questions {on_cluster}
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    question String CODEC(ZSTD(3)),
    is_sampled UInt8 CODEC(ZSTD(1)),
    vector Array(Float32) CODEC(ZSTD(1)),
    vector_model LowCardinality(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
PARTITION BY toDate(written)
ORDER BY (minute, trace_id, record_id, vector_model)
TTL toDate(written) + INTERVAL 14 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

-- Maps of what is asked, a row a topic; the one without id holds the questions of no topic. A map
-- that is written again, for other golden cases, replaces itself. Examples are users' questions.
CREATE TABLE IF NOT EXISTS topics {on_cluster}
(
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    built DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    since DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    topic_id String CODEC(ZSTD(1)),
    name String CODEC(ZSTD(1)),
    questions UInt32 CODEC(ZSTD(1)),
    failing UInt32 CODEC(ZSTD(1)),
    rated UInt32 CODEC(ZSTD(1)),
    down UInt32 CODEC(ZSTD(1)),
    golden_cases UInt32 CODEC(ZSTD(1)),
    examples Array(String) CODEC(ZSTD(3)),
    centroid Array(Float32) CODEC(ZSTD(1)),
    vector_model LowCardinality(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = {replicated}ReplacingMergeTree(written)
ORDER BY (service, environment, built, topic_id)
TTL toDate(written) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
