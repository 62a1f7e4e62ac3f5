"""What every import yields: OTLP requests, each with the position reached in the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from collector.backfill.values import Values, put
from ragvigil.model.span import Signal

BATCH_ITEMS = 512
BATCH_BYTES = 4 << 20


class NotImportable(Exception):
    """The source cannot be imported; the message says why and what helps."""


class BadRow(Exception):
    """A row of the source is no span; the message says why. The row is counted and left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A protobuf request of a signal; `end` is the position that the source is read up to with it.

    `refused` has a reason for each part of the source before `end` that is not in `payload`.
    """

    payload: bytes
    signal: Signal
    items: int
    end: int
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpan:
    """A span of a source and its `place` there. A run resumes behind a place, never within one.

    `span` is None if `refused` says why the row is no span.
    """

    place: int
    span: Span | None = None
    resource: Values | None = None
    scope: tuple[str, str] = ("", "")
    refused: str = ""


def batched(spans: Iterable[SourceSpan]) -> Iterator[Piece]:
    """Pieces of about `BATCH_ITEMS` spans; spans of the same place are never separated."""
    waiting: list[SourceSpan] = []
    size = 0
    for span in spans:
        is_full = len(waiting) >= BATCH_ITEMS or size >= BATCH_BYTES
        if is_full and waiting[-1].place != span.place:
            yield _piece(waiting)
            waiting, size = [], 0
        waiting.append(span)
        size += span.span.ByteSize() if span.span is not None else 0
    if waiting:
        yield _piece(waiting)


def by_trace(sources: Iterable[SourceSpan], start: int) -> Iterator[SourceSpan]:
    """The spans trace by trace, by end of trace, behind place `start`.

    A backfill closes traces by event time: in this order none is split.
    """
    # The whole file is read first: an export is not sorted by trace.
    traces: dict[bytes, list[SourceSpan]] = {}
    refused: list[SourceSpan] = []
    for source in sources:
        if source.span is None:
            refused.append(source)
        else:
            traces.setdefault(source.span.trace_id, []).append(source)
    if start == 0:  # a run that resumes does not report the refused rows again
        yield from (SourceSpan(place=1, refused=row.refused) for row in refused)
    ordered = sorted(traces.items(), key=lambda item: (_end(item[1]), item[0]))
    for place, (_, spans) in enumerate(ordered, start=2):
        if place > start:
            for source in spans:
                yield SourceSpan(
                    place=place, span=source.span, resource=source.resource, scope=source.scope
                )


def identity(text: object, size: int) -> bytes:
    """An id of `size` bytes: decoded if it is hex of that size, else a hash of the text.

    >>> identity("00f067aa0ba902b7", 8).hex()
    '00f067aa0ba902b7'
    >>> len(identity("my-own-trace", 16))
    16

    Raises BadRow if there is no id.
    """
    if not isinstance(text, str) or not text:
        raise BadRow("has no id" if size == 8 else "has no trace id")
    try:
        plain = bytes.fromhex(text)
    except ValueError:
        plain = b""
    if len(plain) == size and any(plain):
        return plain
    return blake2b(text.encode("utf-8", "replace"), digest_size=size).digest()


def _end(spans: list[SourceSpan]) -> int:
    return max(
        max(source.span.start_time_unix_nano, source.span.end_time_unix_nano)
        for source in spans
        if source.span is not None
    )


def _piece(waiting: list[SourceSpan]) -> Piece:
    request = ExportTraceServiceRequest()
    scopes: dict[tuple[str, tuple[str, str]], ScopeSpans] = {}
    sources = [source for source in waiting if source.span is not None]
    for source in sources:
        key = (repr(source.resource), source.scope)
        if key not in scopes:
            scopes[key] = _scope(request, source)
        scopes[key].spans.append(source.span)
    return Piece(
        payload=request.SerializeToString(),
        signal=Signal.TRACES,
        items=len(sources),
        end=waiting[-1].place,
        refused=tuple(source.refused for source in waiting if source.span is None),
    )


def _scope(request: ExportTraceServiceRequest, source: SourceSpan) -> ScopeSpans:
    resource = request.resource_spans.add()
    put(resource.resource.attributes, source.resource or {})
    scope: ScopeSpans = resource.scope_spans.add()
    scope.scope.name, scope.scope.version = source.scope
    return scope
