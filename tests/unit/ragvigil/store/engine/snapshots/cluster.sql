CREATE TABLE IF NOT EXISTS migrations ON CLUSTER `main`
(
    number UInt32,
    name String,
    checksum String,
    applied DateTime64(9, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree(applied)
ORDER BY number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS spans ON CLUSTER `main`
(
    Timestamp DateTime64(9) CODEC(Delta, ZSTD(1)),
    TraceId String CODEC(ZSTD(1)),
    SpanId String CODEC(ZSTD(1)),
    ParentSpanId String CODEC(ZSTD(1)),
    TraceState String CODEC(ZSTD(1)),
    SpanName LowCardinality(String) CODEC(ZSTD(1)),
    SpanKind LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    ScopeName String CODEC(ZSTD(1)),
    ScopeVersion String CODEC(ZSTD(1)),
    SpanAttributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    Duration UInt64 CODEC(ZSTD(1)),
    StatusCode LowCardinality(String) CODEC(ZSTD(1)),
    StatusMessage String CODEC(ZSTD(1)),
    `Events.Timestamp` Array(DateTime64(9)) CODEC(ZSTD(1)),
    `Events.Name` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `Events.Attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    `Links.TraceId` Array(String) CODEC(ZSTD(1)),
    `Links.SpanId` Array(String) CODEC(ZSTD(1)),
    `Links.TraceState` Array(String) CODEC(ZSTD(1)),
    `Links.Attributes` Array(Map(LowCardinality(String), String)) CODEC(ZSTD(1)),
    DroppedAttributes UInt32 CODEC(ZSTD(1)),
    Received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    Generation UInt32 CODEC(ZSTD(1)),
    Backfill LowCardinality(String) CODEC(ZSTD(1)),
    Replica LowCardinality(String) CODEC(ZSTD(1)),
    Epoch UInt32 CODEC(ZSTD(1)),


    ContentHash UInt64 MATERIALIZED cityHash64(Timestamp, Duration, SpanName, SpanKind, StatusCode, arraySort(mapKeys(SpanAttributes))) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(Generation)
PARTITION BY toDate(Received)
PRIMARY KEY (toStartOfMinute(Timestamp), TraceId)
ORDER BY (toStartOfMinute(Timestamp), TraceId, SpanId, ContentHash)
TTL toDate(Received) + INTERVAL 14 DAY
SETTINGS min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS otel_traces ON CLUSTER `main` AS
SELECT
    Timestamp, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ServiceName,
    ResourceAttributes, ScopeName, ScopeVersion, SpanAttributes, Duration, StatusCode, StatusMessage,
    `Events.Timestamp`, `Events.Name`, `Events.Attributes`,
    `Links.TraceId`, `Links.SpanId`, `Links.TraceState`, `Links.Attributes`
FROM spans FINAL;

CREATE VIEW IF NOT EXISTS otel_traces_trace_id_ts ON CLUSTER `main` AS
SELECT TraceId, toDateTime(min(Timestamp)) AS Start, toDateTime(max(Timestamp)) AS End
FROM spans
GROUP BY TraceId;

CREATE TABLE IF NOT EXISTS documents ON CLUSTER `main`
(
    hash String CODEC(ZSTD(1)),
    content String CODEC(ZSTD(3)),
    seen DateTime('UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(seen)
ORDER BY hash
TTL toDate(seen) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS records ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    entry_route LowCardinality(String) CODEC(ZSTD(1)),
    query Nullable(String) CODEC(ZSTD(1)),
    answer Nullable(String) CODEC(ZSTD(1)),
    error Nullable(String) CODEC(ZSTD(1)),
    context_source LowCardinality(String) CODEC(ZSTD(1)),
    truncated Array(LowCardinality(String)) CODEC(ZSTD(1)),
    absent Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    `retrieved.chunk_id` Array(String) CODEC(ZSTD(1)),
    `retrieved.document_id` Array(String) CODEC(ZSTD(1)),
    `retrieved.hash` Array(String) CODEC(ZSTD(1)),
    `retrieved.score` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `retrieved.rank` Array(UInt32) CODEC(ZSTD(1)),
    `retrieved.metadata` Array(String) CODEC(ZSTD(1)),
    `reranked.chunk_id` Array(String) CODEC(ZSTD(1)),
    `reranked.document_id` Array(String) CODEC(ZSTD(1)),
    `reranked.hash` Array(String) CODEC(ZSTD(1)),
    `reranked.score` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `reranked.rank` Array(UInt32) CODEC(ZSTD(1)),
    `reranked.metadata` Array(String) CODEC(ZSTD(1)),
    `context.chunk_id` Array(String) CODEC(ZSTD(1)),
    `context.document_id` Array(String) CODEC(ZSTD(1)),
    `context.hash` Array(String) CODEC(ZSTD(1)),
    `context.score` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `context.rank` Array(UInt32) CODEC(ZSTD(1)),
    `context.metadata` Array(String) CODEC(ZSTD(1)),
    `retrievals.span_id` Array(String) CODEC(ZSTD(1)),
    `retrievals.query` Array(Nullable(String)) CODEC(ZSTD(1)),
    `retrievals.chunk_ids` Array(Array(String)) CODEC(ZSTD(1)),
    `citations.target` Array(String) CODEC(ZSTD(1)),
    `citations.chunk_id` Array(Nullable(String)) CODEC(ZSTD(1)),
    `citations.document_id` Array(String) CODEC(ZSTD(1)),
    `citations.index` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.marker` Array(String) CODEC(ZSTD(1)),
    `citations.quote` Array(Nullable(String)) CODEC(ZSTD(1)),
    `citations.start` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.end` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.claim_start` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.claim_end` Array(Nullable(Int64)) CODEC(ZSTD(1)),
    `citations.style` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `feedback.kind` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `feedback.value` Array(Nullable(Float64)) CODEC(ZSTD(1)),
    `feedback.comment` Array(String) CODEC(ZSTD(1)),
    `feedback.source` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `feedback.time` Array(Int64) CODEC(ZSTD(1)),
    input_tokens Nullable(Int64) CODEC(ZSTD(1)),
    output_tokens Nullable(Int64) CODEC(ZSTD(1)),
    cache_read_tokens Nullable(Int64) CODEC(ZSTD(1)),
    reasoning_tokens Nullable(Int64) CODEC(ZSTD(1)),
    cost_usd Nullable(Float64) CODEC(ZSTD(1)),
    latency_total Nullable(Float64) CODEC(ZSTD(1)),
    latency_retrieval Nullable(Float64) CODEC(ZSTD(1)),
    latency_rerank Nullable(Float64) CODEC(ZSTD(1)),
    latency_generation Nullable(Float64) CODEC(ZSTD(1)),
    latency_first_token Nullable(Float64) CODEC(ZSTD(1)),
    llm_model LowCardinality(String) CODEC(ZSTD(1)),
    embedding_model LowCardinality(String) CODEC(ZSTD(1)),
    reranker_model LowCardinality(String) CODEC(ZSTD(1)),
    prompt_version LowCardinality(String) CODEC(ZSTD(1)),
    index_epoch LowCardinality(String) CODEC(ZSTD(1)),
    temperature Nullable(Float64) CODEC(ZSTD(1)),
    max_tokens Nullable(Int64) CODEC(ZSTD(1)),
    finish_reason LowCardinality(String) CODEC(ZSTD(1)),
    top_k Nullable(Int64) CODEC(ZSTD(1)),
    service_version LowCardinality(String) CODEC(ZSTD(1)),
    tenant LowCardinality(String) CODEC(ZSTD(1)),
    locale LowCardinality(String) CODEC(ZSTD(1)),
    slice LowCardinality(String) CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    response_ids Array(String) CODEC(ZSTD(1)),
    span_ids Array(String) CODEC(ZSTD(1)),
    started DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    ended DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    instrumentors Array(LowCardinality(String)) CODEC(ZSTD(1)),
    conventions Array(LowCardinality(String)) CODEC(ZSTD(1)),
    sampling_probability Nullable(Float64) CODEC(ZSTD(1)),
    backfill LowCardinality(String) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    gone UInt8 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_trace_id trace_id TYPE bloom_filter(0.001) GRANULARITY 8,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_response response_ids TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(generation, gone)
PARTITION BY toDate(received)
PRIMARY KEY (minute, trace_id)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY

SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS record_shapes ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    measures Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    gone UInt8 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(generation, gone)
PARTITION BY toDate(received)
PRIMARY KEY (minute, trace_id)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS scores ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime('UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    scorer LowCardinality(String) CODEC(ZSTD(1)),
    version LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    stream LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    explanation String CODEC(ZSTD(1)),
    details String CODEC(ZSTD(1)),
    absent LowCardinality(String) CODEC(ZSTD(1)),
    failed UInt8 CODEC(ZSTD(1)),
    inclusion_probability Float64 CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    gone UInt8 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),

    series UInt64 MATERIALIZED cityHash64(service, environment, route, rubric, layer, segment) CODEC(ZSTD(1)),
    INDEX idx_trace_id trace_id TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(generation, gone)
PARTITION BY toDate(received)
PRIMARY KEY (minute, trace_id)
ORDER BY (minute, trace_id, record_id, rubric, scorer, segment, stream)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS traces ON CLUSTER `main`
(
    trace_id String CODEC(ZSTD(1)),
    late UInt8 CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    outcome LowCardinality(String) CODEC(ZSTD(1)),
    closed LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    record_ids Array(String) CODEC(ZSTD(1)),
    backfill LowCardinality(String) CODEC(ZSTD(1)),
    generation UInt32 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_time time TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(generation)
PARTITION BY toDate(received)
ORDER BY (trace_id, late)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS rollups ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    n UInt64 CODEC(ZSTD(1)),
    total Float64 CODEC(ZSTD(1)),
    squares Float64 CODEC(ZSTD(1)),
    failed UInt64 CODEC(ZSTD(1)),
    not_applicable UInt64 CODEC(ZSTD(1)),
    absent UInt64 CODEC(ZSTD(1)),
    histogram Array(UInt64) CODEC(ZSTD(1)),
    labels Map(String, UInt64) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_version version TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(minute)
ORDER BY (minute, service, environment, route, rubric, layer, segment)
TTL toDate(minute) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS rubric_deltas ON CLUSTER `main`
(
    tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    window LowCardinality(String) CODEC(ZSTD(1)),
    computed DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    closed UInt8 CODEC(ZSTD(1)),
    n Int64 CODEC(ZSTD(1)),
    n_effective Float64 CODEC(ZSTD(1)),
    failed Int64 CODEC(ZSTD(1)),
    coverage Nullable(Float64) CODEC(ZSTD(1)),
    mean Nullable(Float64) CODEC(ZSTD(1)),
    baseline Nullable(Float64) CODEC(ZSTD(1)),
    baseline_kind LowCardinality(String) CODEC(ZSTD(1)),
    baseline_n Int64 CODEC(ZSTD(1)),
    delta Nullable(Float64) CODEC(ZSTD(1)),
    low Nullable(Float64) CODEC(ZSTD(1)),
    high Nullable(Float64) CODEC(ZSTD(1)),
    release_baseline Nullable(Float64) CODEC(ZSTD(1)),
    release_delta Nullable(Float64) CODEC(ZSTD(1)),
    release_low Nullable(Float64) CODEC(ZSTD(1)),
    release_high Nullable(Float64) CODEC(ZSTD(1)),
    overdispersion Float64 CODEC(ZSTD(1)),
    detection_limit Nullable(Float64) CODEC(ZSTD(1)),
    sustained_drop UInt8 CODEC(ZSTD(1)),
    moved LowCardinality(String) CODEC(ZSTD(1)),
    since Nullable(Int64) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(computed)
PARTITION BY toYYYYMM(tick)
ORDER BY (tick, service, environment, route, rubric, layer, segment, window)
TTL toDate(tick) + INTERVAL 400 DAY
SETTINGS min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS feedback ON CLUSTER `main`
(
    feedback_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    comment String CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    session_id String CODEC(ZSTD(1)),
    response_id String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_span span_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_session session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX idx_response response_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(received)
ORDER BY feedback_id
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS deploys ON CLUSTER `main`
(
    deploy_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    version String CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    description String CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(received)
ORDER BY deploy_id
TTL toDate(received) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS ledger ON CLUSTER `main`
(
    replica LowCardinality(String) CODEC(ZSTD(1)),
    seq UInt64 CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    stored UInt32 CODEC(ZSTD(1)),
    duplicate UInt32 CODEC(ZSTD(1)),
    quarantined UInt32 CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree
PARTITION BY toDate(received)
ORDER BY (replica, seq)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS quarantine ON CLUSTER `main`
(
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    table LowCardinality(String) CODEC(ZSTD(1)),
    reason String CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    row String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(time)
ORDER BY (time, table)
TTL toDate(time) + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS labels ON CLUSTER `main`
(
    label_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label String CODEC(ZSTD(1)),
    labeller String CODEC(ZSTD(1)),
    source LowCardinality(String) CODEC(ZSTD(1)),
    comment String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(received)
ORDER BY label_id
TTL toDate(received) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS canary_members ON CLUSTER `main`
(
    set_id String CODEC(ZSTD(1)),
    chosen DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    record String CODEC(ZSTD(3)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(chosen)
ORDER BY (set_id, trace_id, record_id)
TTL toDate(chosen) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS canary_scores ON CLUSTER `main`
(
    set_id String CODEC(ZSTD(1)),
    run_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    received DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    record_id String CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    scorer LowCardinality(String) CODEC(ZSTD(1)),
    version LowCardinality(String) CODEC(ZSTD(1)),
    value Nullable(Float64) CODEC(ZSTD(1)),
    label LowCardinality(String) CODEC(ZSTD(1)),
    absent LowCardinality(String) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(received)
ORDER BY (set_id, run_id, rubric, segment, trace_id, record_id)
TTL toDate(received) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS notices ON CLUSTER `main`
(
    notice_id String CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    since DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    noticed DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    requests UInt32 CODEC(ZSTD(1)),
    share Float64 CODEC(ZSTD(1)),
    before String CODEC(ZSTD(1)),
    after String CODEC(ZSTD(1)),
    evidence String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY notice_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS findings ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (incident_id, finding_id)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS incidents ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY incident_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS incident_events ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (incident_id, time, verb, actor, text)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS audits ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY audit_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS audit_scores ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (audit_id, pair, side, rubric)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS failures ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written, is_gone)
PARTITION BY toDate(received)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS memberships ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written, is_gone)
PARTITION BY toDate(received)
ORDER BY (minute, trace_id, record_id)
TTL toDate(received) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS issues ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY issue_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS issue_events ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (issue_id, time, verb, actor, text)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS issue_pairs ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (kept, merged)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS root_causes ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (issue_id, time)
TTL toDate(written) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS checkpoints ON CLUSTER `main`
(
    reader LowCardinality(String) CODEC(ZSTD(1)),
    position UInt64 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY reader
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS golden_cases ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(step)
ORDER BY (case_id, revision)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS golden_events ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (case_id, time, verb, revision)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS golden_runs ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (case_id, time)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS ratings ON CLUSTER `main` AS
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

CREATE TABLE IF NOT EXISTS questions ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
PARTITION BY toDate(written)
ORDER BY (minute, trace_id, record_id, vector_model)
TTL toDate(written) + INTERVAL 14 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS topics ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (service, environment, built, topic_id)
TTL toDate(written) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

ALTER TABLE issues ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS harmed_per_day Nullable(Float64) CODEC(ZSTD(1)) AFTER merged_into;

ALTER TABLE ledger ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS lost UInt32 CODEC(ZSTD(1)) AFTER quarantined;

ALTER TABLE records ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS words String MATERIALIZED concat(' ', replaceRegexpAll(lowerUTF8(replaceRegexpAll(normalizeUTF8NFKD(concat(ifNull(query, ''), ' \xEE\x80\x80 ', ifNull(answer, ''))), '[\xCC\x80-\xCD\xAF]+', '')), '[^\\pL\\pN\\pM\xEE\x80\x80]+', ' '), ' ') CODEC(ZSTD(1)) AFTER answer;

CREATE TABLE IF NOT EXISTS acts ON CLUSTER `main`
(
    act_id String CODEC(ZSTD(1)),
    time DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    person String CODEC(ZSTD(1)),
    role LowCardinality(String) CODEC(ZSTD(1)),
    verb LowCardinality(String) CODEC(ZSTD(1)),
    thing String CODEC(ZSTD(1)),
    place LowCardinality(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (time, act_id)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

ALTER TABLE incidents ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS verdict String CODEC(ZSTD(3)) AFTER cause;

CREATE TABLE IF NOT EXISTS drift_states ON CLUSTER `main`
(
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    numbers Array(Float64) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (service, environment, route, rubric, layer, segment)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS sampling_overrides ON CLUSTER `main`
(
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rate Float64 CODEC(ZSTD(1)),
    until DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (service, environment, route)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

ALTER TABLE records ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS prompt_template Array(UInt32) CODEC(ZSTD(1)) AFTER slice;

ALTER TABLE findings ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS is_untrusted UInt8 CODEC(ZSTD(1)) AFTER words;

ALTER TABLE rollups ON CLUSTER `main` MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE rollups ON CLUSTER `main` ADD PROJECTION IF NOT EXISTS by_route
(
    SELECT
        minute, service, environment, route, rubric, layer, segment, version,
        n, total, squares, failed, histogram, labels
    ORDER BY service, environment, route, minute
);

CREATE TABLE IF NOT EXISTS delta_changes ON CLUSTER `main`
(
    tick DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    window LowCardinality(String) CODEC(ZSTD(1)),
    computed DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    closed UInt8 CODEC(ZSTD(1)),
    n Int64 CODEC(ZSTD(1)),
    n_effective Float64 CODEC(ZSTD(1)),
    failed Int64 CODEC(ZSTD(1)),
    coverage Nullable(Float64) CODEC(ZSTD(1)),
    mean Nullable(Float64) CODEC(ZSTD(1)),
    baseline Nullable(Float64) CODEC(ZSTD(1)),
    baseline_kind LowCardinality(String) CODEC(ZSTD(1)),
    baseline_n Int64 CODEC(ZSTD(1)),
    delta Nullable(Float64) CODEC(ZSTD(1)),
    low Nullable(Float64) CODEC(ZSTD(1)),
    high Nullable(Float64) CODEC(ZSTD(1)),
    release_baseline Nullable(Float64) CODEC(ZSTD(1)),
    release_delta Nullable(Float64) CODEC(ZSTD(1)),
    release_low Nullable(Float64) CODEC(ZSTD(1)),
    release_high Nullable(Float64) CODEC(ZSTD(1)),
    overdispersion Float64 CODEC(ZSTD(1)),
    detection_limit Nullable(Float64) CODEC(ZSTD(1)),
    sustained_drop UInt8 CODEC(ZSTD(1)),
    moved LowCardinality(String) CODEC(ZSTD(1)),
    since Nullable(Int64) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    digest UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(computed)
PARTITION BY toDate(tick)
ORDER BY (tick, service, environment, route, rubric, layer, segment, window)
TTL toDate(tick) + INTERVAL 3 DAY
SETTINGS min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

INSERT INTO checkpoints (reader, position, written, replica, epoch)
SELECT 'deltas', toUnixTimestamp(maxIf(tick, closed = 1)), max(computed), '', 0
FROM rubric_deltas
HAVING count() > 0;

INSERT INTO delta_changes (* EXCEPT (digest))
SELECT * FROM rubric_deltas FINAL WHERE tick >= now() - INTERVAL 2 DAY;

ALTER TABLE rubric_deltas ON CLUSTER `main` DELETE WHERE toMinute(tick) != 0;

ALTER TABLE rollups ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

ALTER TABLE rubric_deltas ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

ALTER TABLE delta_changes ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

ALTER TABLE drift_states ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) CODEC(ZSTD(1)) AFTER segment;

CREATE TABLE IF NOT EXISTS proxy_rollups ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    n UInt64 CODEC(ZSTD(1)),
    total Float64 CODEC(ZSTD(1)),
    squares Float64 CODEC(ZSTD(1)),
    failed UInt64 CODEC(ZSTD(1)),
    not_applicable UInt64 CODEC(ZSTD(1)),
    absent UInt64 CODEC(ZSTD(1)),
    histogram Array(UInt64) CODEC(ZSTD(1)),
    labels Map(String, UInt64) CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(version)
PARTITION BY toYYYYMM(minute)
ORDER BY (minute, service, environment, route, rubric, layer, segment)
TTL toDate(minute) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS signal_minutes ON CLUSTER `main`
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

    form LowCardinality(String) CODEC(ZSTD(1)),

    rolled_up UInt64 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_version version TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(version)
ORDER BY (minute, service, environment, route, replica)
TTL toDate(minute) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS fingerprint_minutes ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    `counts.kind` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `counts.value` Array(String) CODEC(ZSTD(1)),
    `counts.requests` Array(UInt64) CODEC(ZSTD(1)),
    form LowCardinality(String) CODEC(ZSTD(1)),

    rolled_up UInt64 CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    INDEX idx_version version TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree(version)
ORDER BY (minute, service, environment, route, replica)
TTL toDate(minute) + INTERVAL 90 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS judged_sums ON CLUSTER `main`
(
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    sums Array(Float64) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
PARTITION BY toYYYYMM(start)
ORDER BY (start, service, environment, route, rubric, layer, segment)
TTL toDate(start) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS question_sums ON CLUSTER `main`
(
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    route LowCardinality(String) CODEC(ZSTD(1)),
    answers UInt64 CODEC(ZSTD(1)),
    crowding Float64 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
PARTITION BY toYYYYMM(start)
ORDER BY (start, service, environment, route)
TTL toDate(start) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

ALTER TABLE rubric_deltas ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS estimate LowCardinality(String) CODEC(ZSTD(1)) AFTER mean,
    ADD COLUMN IF NOT EXISTS plain_mean Nullable(Float64) CODEC(ZSTD(1)) AFTER estimate,
    ADD COLUMN IF NOT EXISTS judged_share Nullable(Float64) CODEC(ZSTD(1)) AFTER plain_mean;

ALTER TABLE delta_changes ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS estimate LowCardinality(String) CODEC(ZSTD(1)) AFTER mean,
    ADD COLUMN IF NOT EXISTS plain_mean Nullable(Float64) CODEC(ZSTD(1)) AFTER estimate,
    ADD COLUMN IF NOT EXISTS judged_share Nullable(Float64) CODEC(ZSTD(1)) AFTER plain_mean;

ALTER TABLE findings ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS is_local UInt8 CODEC(ZSTD(1)) AFTER words;

ALTER TABLE traces ON CLUSTER `main`
    ADD INDEX IF NOT EXISTS idx_record record_ids TYPE bloom_filter(0.01) GRANULARITY 16;

ALTER TABLE records ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS question UInt64 MATERIALIZED cityHash64(trimBoth(lowerUTF8(ifNull(query, '')), ' \t\r\n.?!…¿¡。？！؟\'"“”„«»')) CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS idx_question question TYPE bloom_filter(0.01) GRANULARITY 4;

ALTER TABLE issues ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS incident_id String CODEC(ZSTD(1)) AFTER merged_into;

CREATE TABLE IF NOT EXISTS offline_scores ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (run_id, case_id, condition, rubric)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS slice_sums ON CLUSTER `main`
(
    start DateTime('UTC') CODEC(Delta, ZSTD(1)),
    service LowCardinality(String) CODEC(ZSTD(1)),
    environment LowCardinality(String) CODEC(ZSTD(1)),
    dimension LowCardinality(String) CODEC(ZSTD(1)),
    value LowCardinality(String) CODEC(ZSTD(1)),
    rubric LowCardinality(String) CODEC(ZSTD(1)),
    layer LowCardinality(String) CODEC(ZSTD(1)),
    segment LowCardinality(String) CODEC(ZSTD(1)),
    n UInt64 CODEC(ZSTD(1)),
    total Float64 CODEC(ZSTD(1)),
    squares Float64 CODEC(ZSTD(1)),
    failed UInt64 CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
PARTITION BY toYYYYMM(start)
ORDER BY (start, service, environment, dimension, value, rubric, layer, segment)
TTL toDate(start) + INTERVAL 400 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS erasures ON CLUSTER `main`
(
    erasure_id String CODEC(ZSTD(1)),
    asked DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    kind LowCardinality(String) CODEC(ZSTD(1)),
    subject String CODEC(ZSTD(1)),
    traces Array(String) CODEC(ZSTD(1)),
    last_seq UInt64 CODEC(ZSTD(1)),
    state LowCardinality(String) CODEC(ZSTD(1)),
    step String CODEC(ZSTD(1)),
    rows String CODEC(ZSTD(1)),
    golden_cases Array(String) CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY erasure_id
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS members ON CLUSTER `main`
(
    replica LowCardinality(String) CODEC(ZSTD(1)),
    roles Array(LowCardinality(String)) CODEC(ZSTD(1)),
    address String CODEC(ZSTD(1)),
    acknowledged UInt64 CODEC(ZSTD(1)),
    in_spool UInt64 CODEC(ZSTD(1)),
    mismatch Int64 CODEC(ZSTD(1)),
    behind String CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),

    beat DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(beat)
ORDER BY replica
TTL toDate(beat) + INTERVAL 14 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS dirty_minutes ON CLUSTER `main`
(
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),

    token String CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    written DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(written)
ORDER BY written
TTL toDate(written) + INTERVAL 14 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS late_spans ON CLUSTER `main`
(
    trace_id String CODEC(ZSTD(1)),

    owner LowCardinality(String) CODEC(ZSTD(1)),
    spans UInt32 CODEC(ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1)),
    written DateTime64(3, 'UTC') DEFAULT now64(3) CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedMergeTree
PARTITION BY toDate(written)
ORDER BY (written, trace_id)
TTL toDate(written) + INTERVAL 14 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

ALTER TABLE ledger ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS not_kept UInt32 CODEC(ZSTD(1)) AFTER lost;

ALTER TABLE traces ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS kept UInt32 DEFAULT spans CODEC(ZSTD(1)) AFTER spans;

ALTER TABLE spans ON CLUSTER `main`

    MODIFY COLUMN ContentHash UInt64 MATERIALIZED cityHash64(Timestamp, Duration, SpanName, SpanKind, StatusCode, arraySort(mapKeys(SpanAttributes))) % 65536 CODEC(T64, ZSTD(1)),
    MODIFY COLUMN ResourceAttributes CODEC(ZSTD(6)),
    MODIFY COLUMN SpanAttributes CODEC(ZSTD(6)),
    MODIFY COLUMN `Events.Attributes` CODEC(ZSTD(6)),
    MODIFY COLUMN `Links.Attributes` CODEC(ZSTD(6));

ALTER TABLE records ON CLUSTER `main`
    MODIFY COLUMN query CODEC(ZSTD(6)),
    MODIFY COLUMN answer CODEC(ZSTD(6)),
    MODIFY COLUMN words CODEC(ZSTD(6)),
    MODIFY COLUMN `retrieved.chunk_id` CODEC(ZSTD(6)),
    MODIFY COLUMN `retrieved.document_id` CODEC(ZSTD(6)),
    MODIFY COLUMN `retrieved.hash` CODEC(ZSTD(6)),
    MODIFY COLUMN `retrieved.score` CODEC(ZSTD(6)),
    MODIFY COLUMN `retrieved.metadata` CODEC(ZSTD(6)),
    MODIFY COLUMN `reranked.chunk_id` CODEC(ZSTD(6)),
    MODIFY COLUMN `reranked.document_id` CODEC(ZSTD(6)),
    MODIFY COLUMN `reranked.hash` CODEC(ZSTD(6)),
    MODIFY COLUMN `reranked.score` CODEC(ZSTD(6)),
    MODIFY COLUMN `reranked.metadata` CODEC(ZSTD(6)),
    MODIFY COLUMN `context.chunk_id` CODEC(ZSTD(6)),
    MODIFY COLUMN `context.document_id` CODEC(ZSTD(6)),
    MODIFY COLUMN `context.hash` CODEC(ZSTD(6)),
    MODIFY COLUMN `context.score` CODEC(ZSTD(6)),
    MODIFY COLUMN `context.metadata` CODEC(ZSTD(6)),
    MODIFY COLUMN `retrievals.query` CODEC(ZSTD(6)),
    MODIFY COLUMN `retrievals.chunk_ids` CODEC(ZSTD(6)),
    MODIFY COLUMN `citations.quote` CODEC(ZSTD(6));

ALTER TABLE documents ON CLUSTER `main`
    MODIFY COLUMN content CODEC(ZSTD(6));

ALTER TABLE scores ON CLUSTER `main`
    MODIFY COLUMN explanation CODEC(ZSTD(6)),
    MODIFY COLUMN details CODEC(ZSTD(6));

ALTER TABLE record_shapes ON CLUSTER `main`
    MODIFY COLUMN measures CODEC(ZSTD(6));

CREATE TABLE IF NOT EXISTS offline_gates ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (run_id, rubric, dimension, slice)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS accepted_rubrics ON CLUSTER `main`
(
    name String CODEC(ZSTD(1)),
    text String CODEC(ZSTD(1)),
    issue_id String CODEC(ZSTD(1)),
    sentence String CODEC(ZSTD(1)),
    accepted_by String CODEC(ZSTD(1)),
    accepted DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    is_removed UInt8 CODEC(ZSTD(1)),
    removed_by String CODEC(ZSTD(1)),
    written DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
    replica LowCardinality(String) CODEC(ZSTD(1)),
    epoch UInt32 CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY name
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

ALTER TABLE findings ON CLUSTER `main`
    ADD COLUMN IF NOT EXISTS earliest DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)) AFTER since,
    ADD COLUMN IF NOT EXISTS latest DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)) AFTER earliest;

CREATE TABLE IF NOT EXISTS label_bars ON CLUSTER `main`
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
ENGINE = ReplicatedReplacingMergeTree(written)
ORDER BY (service, environment, route, rubric, segment, holds_from)
TTL toDate(written) + INTERVAL 400 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;
