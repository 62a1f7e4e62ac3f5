"""The metrics of the receivers."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter(
    "ragvigil_requests",
    "OTLP requests acknowledged, including partly rejected ones.",
    ["signal", "encoding"],
)
REFUSED = Counter(
    "ragvigil_requests_refused", "OTLP requests refused as a whole, by reason.", ["reason"]
)
ITEMS = Counter(
    "ragvigil_items_accepted",
    "Spans and log records acknowledged: they are on disk.",
    ["signal", "encoding"],
)
REJECTED = Counter(
    "ragvigil_items_rejected",
    "Spans and log records rejected in requests that were otherwise accepted.",
    ["signal", "reason"],
)
IGNORED = Counter(
    "ragvigil_items_ignored",
    "Accepted, not stored: metrics, log records without a trace, unreadable resource attributes, "
    "unknown fields of JSON requests.",
    ["kind"],
)
BASE64_IDS = Counter("ragvigil_base64_ids", "Ids in JSON that were base64 instead of hex.")
BYTES = Counter(
    "ragvigil_received_bytes", "Bytes of accepted bodies after decompression.", ["encoding"]
)
REDACTED = Counter(
    "ragvigil_redactions", "Values redacted before the spool, by pattern.", ["pattern"]
)
IN_FLIGHT = Gauge("ragvigil_in_flight_bytes", "Bytes of request bodies in memory now.")
CONNECTIONS = Gauge(
    "ragvigil_connections", "Open connections of the intake's listeners.", ["listener"]
)
CONNECTIONS_CLOSED = Counter(
    "ragvigil_connections_closed",
    "Connections that the intake's listeners closed or refused, by reason.",
    ["listener", "reason"],
)
ACKNOWLEDGED = Histogram(
    "ragvigil_acknowledgement_seconds",
    "Time from the end of the request body to the acknowledgement.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)
