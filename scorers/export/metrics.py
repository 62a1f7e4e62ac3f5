"""What the export of results counts."""

from __future__ import annotations

from enum import StrEnum

from prometheus_client import Counter, Gauge


class DropReason(StrEnum):
    """Why a result was not exported, or not once more."""

    QUEUE_FULL = "queue_full"
    """More waited than `max_queue` allows."""
    FAILED = "failed"
    """The receiver took it in none of several attempts."""
    REJECTED = "rejected"
    """The receiver took the request and not this one of it."""
    NO_SPAN = "no_span"
    """The answer has no trace and span id that OpenTelemetry knows, to hang the result on."""
    UNCHANGED = "unchanged"
    """The answer was scored again with the results that were exported already."""
    SHUTDOWN = "shutdown"
    """The process ended before it was sent."""


EXPORTED = Counter("ragvigil_exported_results", "Results that the OTLP receiver took.")
DROPPED = Counter(
    "ragvigil_export_dropped",
    "Results that were to be exported and were not, by reason.",
    ["reason"],
)
FAILURES = Counter("ragvigil_export_failures", "Requests that the OTLP receiver did not take.")
WAITING = Gauge("ragvigil_export_waiting", "Answers whose results wait to be exported.")
