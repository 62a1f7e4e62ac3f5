"""The time window of an import, and counts of what it reads; spans count by start time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.backfill.pieces import NotImportable, Piece
from collector.backfill.values import nanoseconds
from ragvigil.model.span import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Times in ns since 1970: `since` is inclusive, `until` exclusive; 0 means no bound."""

    since: int = 0
    until: int = 0

    def holds(self, moment: int) -> bool:
        """Whether a time is in the window."""
        return self.since <= moment and (not self.until or moment < self.until)


def window(since: str | None, until: str | None) -> Window:
    """The window of the options as typed. Raises NotImportable."""
    return Window(since=_moment("--since", since), until=_moment("--until", until))


class Contents:
    """Counts what a run reads."""

    def __init__(self) -> None:
        self.spans = self.logs = self.outside = self.first = self.last = 0
        self.traces: set[bytes] = set()

    def summary(self) -> dict[str, object]:
        """The counts of what is in the window, and its time range."""
        times = {"first": _iso(self.first), "last": _iso(self.last)}
        counts = {"traces": len(self.traces), "spans": self.spans, "logs": self.logs}
        return {**counts, "outside": self.outside, **times}

    def narrow(self, piece: Piece, window: Window) -> Piece:
        """The piece without spans outside of the window; counts what it reads."""
        if piece.signal is not Signal.TRACES:
            self.logs += piece.items
            return piece
        request = ExportTraceServiceRequest.FromString(piece.payload)
        outside = 0
        for scope in _scopes(request):
            if window != Window():
                outside += _keep(scope.spans, window)
            self._count(scope.spans)
        self.outside += outside
        if not outside:
            return piece
        return replace(piece, payload=request.SerializeToString(), items=piece.items - outside)

    def _count(self, spans: Any) -> None:
        self.spans += len(spans)
        for span in spans:
            self.traces.add(span.trace_id)
            start, end = span.start_time_unix_nano, span.end_time_unix_nano
            self.first = min(self.first or start, start or self.first)
            self.last = max(self.last, start, end)


def _scopes(request: Any) -> Iterator[Any]:
    for resource in request.resource_spans:
        yield from resource.scope_spans


def _keep(spans: Any, window: Window) -> int:
    """Removes the spans outside of the window; returns how many."""
    inside = [span for span in spans if window.holds(span.start_time_unix_nano)]
    outside = len(spans) - len(inside)
    if outside:
        del spans[:]
        spans.extend(inside)
    return outside


def _moment(option: str, typed: str | None) -> int:
    if typed is None:
        return 0
    moment = nanoseconds(typed)
    if moment is None:
        raise NotImportable(f"{option}: {typed!r} is no time like 2026-01-31 or 2026-01-31T08:00Z")
    return moment


def _iso(nanos: int) -> str | None:
    if not nanos or nanos >= 253_402_300_800 * 10**9:  # the year 10000
        return None
    return datetime.fromtimestamp(nanos / 1e9, UTC).isoformat(timespec="milliseconds")
