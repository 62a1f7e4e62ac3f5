"""What every import hands on: OTLP requests, and how far the source is read with each."""

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
    """The source is none that can be imported; one line says why and what helps."""


class BadRow(Exception):
    """A row of the source is no span; the text says why. It is counted and left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some requests of one signal as one, in protobuf; `end` is how far the source is read with it.

    `refused` says of what lies before `end` and is not in `payload`, why.
    """

    payload: bytes
    signal: Signal
    items: int
    end: int
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A span of a source, and its `place` there: a run goes on behind a place, never within it.

    `span` is None where `refused` says why a row became none.
    """

    place: int
    span: Span | None = None
    resource: Values | None = None
    scope: tuple[str, str] = ("", "")
    refused: str = ""


def batched(found: Iterable[Found]) -> Iterator[Piece]:
    """Pieces of about `BATCH_ITEMS` spans, never cut between two of the same place."""
    waiting: list[Found] = []
    size = 0
    for one in found:
        is_full = len(waiting) >= BATCH_ITEMS or size >= BATCH_BYTES
        if is_full and waiting[-1].place != one.place:
            yield _piece(waiting)
            waiting, size = [], 0
        waiting.append(one)
        size += one.span.ByteSize() if one.span is not None else 0
    if waiting:
        yield _piece(waiting)


def by_trace(found: Iterable[Found], start: int) -> Iterator[Found]:
    """The spans trace by trace, in the order in which the traces ended, behind place `start`.

    A backfill closes traces by the times it is sent: so none is cut in two.
    """
    traces: dict[bytes, list[Found]] = {}
    refused: list[Found] = []
    for one in found:
        if one.span is None:
            refused.append(one)
        else:
            traces.setdefault(one.span.trace_id, []).append(one)
    if start == 0:
        yield from (Found(place=1, refused=one.refused) for one in refused)
    ordered = sorted(traces.items(), key=lambda item: (_end(item[1]), item[0]))
    for place, (_, spans) in enumerate(ordered, start=2):
        if place > start:
            for one in spans:
                yield Found(place=place, span=one.span, resource=one.resource, scope=one.scope)


def identity(text: object, size: int) -> bytes:
    """An id of `size` bytes: the hex that it is, or a hash of what is no such id.

    >>> identity("00f067aa0ba902b7", 8).hex()
    '00f067aa0ba902b7'
    >>> len(identity("my-own-trace", 16))
    16

    Raises BadRow where there is none.
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


def _end(spans: list[Found]) -> int:
    return max(
        max(one.span.start_time_unix_nano, one.span.end_time_unix_nano)
        for one in spans
        if one.span is not None
    )


def _piece(waiting: list[Found]) -> Piece:
    request = ExportTraceServiceRequest()
    scopes: dict[tuple[str, tuple[str, str]], ScopeSpans] = {}
    kept = [one for one in waiting if one.span is not None]
    for one in kept:
        key = (repr(one.resource), one.scope)
        if key not in scopes:
            scopes[key] = _scope(request, one)
        scopes[key].spans.append(one.span)
    return Piece(
        payload=request.SerializeToString(),
        signal=Signal.TRACES,
        items=len(kept),
        end=waiting[-1].place,
        refused=tuple(one.refused for one in waiting if one.span is None),
    )


def _scope(request: ExportTraceServiceRequest, one: Found) -> ScopeSpans:
    resource = request.resource_spans.add()
    put(resource.resource.attributes, one.resource or {})
    scope: ScopeSpans = resource.scope_spans.add()
    scope.scope.name, scope.scope.version = one.scope
    return scope
