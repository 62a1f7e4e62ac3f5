"""Metrics of the export of results."""

from __future__ import annotations

from enum import StrEnum

from prometheus_client import Counter, Gauge


class DropReason(StrEnum):
    """Why a result was not exported, or not once more."""

    QUEUE_FULL = "queue_full"
    """The queue held `max_queue` answers."""
    FAILED = "failed"
    """All attempts to send it failed."""
    REJECTED = "rejected"
    """The receiver accepted the request but rejected this result."""
    NO_SPAN = "no_span"
    """The answer has no valid OpenTelemetry trace and span id."""
    UNCHANGED = "unchanged"
    """The answer was scored again, with results that were exported already."""
    SHUTDOWN = "shutdown"
    """The process stopped before it was sent."""


EXPORTED = Counter("ragvigil_exported_results", "Results that the OTLP receiver accepted.")
DROPPED = Counter(
    "ragvigil_export_dropped",
    "Results that were not exported, by reason.",
    ["reason"],
)
FAILURES = Counter("ragvigil_export_failures", "Requests that the OTLP receiver did not accept.")
WAITING = Gauge("ragvigil_export_waiting", "Answers whose results wait to be exported.")
