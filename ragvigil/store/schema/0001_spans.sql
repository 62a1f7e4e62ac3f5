-- Column names and types of the OpenTelemetry Collector's ClickHouse exporter (otel_traces), then
-- our own. Document texts stand in `documents`; attribute values hold marks in their place.
CREATE TABLE IF NOT EXISTS spans {on_cluster}
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
    -- Times, name and attribute names: what tells two spans of one id apart. Values are left out,
    -- because the next generation may hold marks where this one holds texts.
    ContentHash UInt64 MATERIALIZED cityHash64(Timestamp, Duration, SpanName, SpanKind, StatusCode, arraySort(mapKeys(SpanAttributes))) CODEC(ZSTD(1)),
    INDEX idx_trace_id TraceId TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX idx_span_attr_key mapKeys(SpanAttributes) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {replicated}ReplacingMergeTree(Generation)
PARTITION BY toDate(Received)
PRIMARY KEY (toStartOfMinute(Timestamp), TraceId)
ORDER BY (toStartOfMinute(Timestamp), TraceId, SpanId, ContentHash)
TTL toDate(Received) + INTERVAL 14 DAY
SETTINGS min_bytes_for_wide_part = 1073741824, ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS otel_traces {on_cluster} AS
SELECT
    Timestamp, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ServiceName,
    ResourceAttributes, ScopeName, ScopeVersion, SpanAttributes, Duration, StatusCode, StatusMessage,
    `Events.Timestamp`, `Events.Name`, `Events.Attributes`,
    `Links.TraceId`, `Links.SpanId`, `Links.TraceState`, `Links.Attributes`
FROM spans FINAL;

-- Grafana looks up the time range of a trace here before it reads the spans.
CREATE VIEW IF NOT EXISTS otel_traces_trace_id_ts {on_cluster} AS
SELECT TraceId, toDateTime(min(Timestamp)) AS Start, toDateTime(max(Timestamp)) AS End
FROM spans
GROUP BY TraceId;
