"""The metrics of the receivers."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter(
    "ragvigil_requests",
    "OTLP requests acknowledged, partly rejected ones included.",
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
    "Spans and log records rejected out of requests that were otherwise taken.",
    ["signal", "reason"],
)
IGNORED = Counter(
    "ragvigil_items_ignored",
    "What is taken and not kept: metrics, log records of no trace, unreadable resource attributes.",
    ["kind"],
)
BASE64_IDS = Counter("ragvigil_base64_ids", "Ids that came as base64 in JSON instead of hex.")
BYTES = Counter(
    "ragvigil_received_bytes", "Bytes of accepted bodies after decompression.", ["encoding"]
)
REDACTED = Counter(
    "ragvigil_redactions", "Values taken out of texts before the spool, by pattern.", ["pattern"]
)
IN_FLIGHT = Gauge("ragvigil_in_flight_bytes", "Bytes of bodies held in memory now.")
ACKNOWLEDGED = Histogram(
    "ragvigil_acknowledgement_seconds",
    "Time from the whole body received to the acknowledgement decided.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
)
