"""What an import holds and between which times it is wanted: spans by their start."""

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
    """Times in ns since 1970: `since` is within, `until` no longer; 0 is no bound."""

    since: int = 0
    until: int = 0

    def holds(self, moment: int) -> bool:
        """Whether a time lies within."""
        return self.since <= moment and (not self.until or moment < self.until)


def window(since: str | None, until: str | None) -> Window:
    """A window of what was typed. Raises NotImportable."""
    return Window(since=_moment("--since", since), until=_moment("--until", until))


class Contents:
    """Counts what a run reads."""

    def __init__(self) -> None:
        self.spans = self.logs = self.outside = self.first = self.last = 0
        self.traces: set[bytes] = set()

    def told(self) -> dict[str, object]:
        """The counts of what lies within the window, and its time range."""
        times = {"first": _written(self.first), "last": _written(self.last)}
        counts = {"traces": len(self.traces), "spans": self.spans, "logs": self.logs}
        return {**counts, "outside": self.outside, **times}

    def narrowed(self, piece: Piece, wanted: Window) -> Piece:
        """The piece without what lies outside of the window, counted."""
        if piece.signal is not Signal.TRACES:
            self.logs += piece.items
            return piece
        request = ExportTraceServiceRequest.FromString(piece.payload)
        left = 0
        for scope in _scopes(request):
            if wanted != Window():
                left += _keep(scope.spans, wanted)
            self._count(scope.spans)
        self.outside += left
        if not left:
            return piece
        return replace(piece, payload=request.SerializeToString(), items=piece.items - left)

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


def _keep(spans: Any, wanted: Window) -> int:
    """Leaves only the spans within; returns how many went."""
    kept = [span for span in spans if wanted.holds(span.start_time_unix_nano)]
    left = len(spans) - len(kept)
    if left:
        del spans[:]
        spans.extend(kept)
    return left


def _moment(option: str, typed: str | None) -> int:
    if typed is None:
        return 0
    found = nanoseconds(typed)
    if found is None:
        raise NotImportable(f"{option}: {typed!r} is no time like 2026-01-31 or 2026-01-31T08:00Z")
    return found


def _written(nanos: int) -> str | None:
    if not nanos or nanos >= 253_402_300_800 * 10**9:  # the year 10000
        return None
    return datetime.fromtimestamp(nanos / 1e9, UTC).isoformat(timespec="milliseconds")
