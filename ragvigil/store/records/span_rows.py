"""Rows of the table `spans`: the hottest path of the store, built by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ragvigil.model.span import (
    Attributes,
    Event,
    Link,
    LogRecord,
    Span,
    SpanKind,
    StatusCode,
    Trace,
)
from ragvigil.store.engine.batch import Row
from ragvigil.store.engine.table import declare, nanos
from ragvigil.store.records.attributes import as_text
from ragvigil.store.records.texts import SHORTEST, Shortener

KINDS = {
    SpanKind.UNSPECIFIED: "Unspecified",
    SpanKind.INTERNAL: "Internal",
    SpanKind.SERVER: "Server",
    SpanKind.CLIENT: "Client",
    SpanKind.PRODUCER: "Producer",
    SpanKind.CONSUMER: "Consumer",
}
STATUS = {StatusCode.UNSET: "Unset", StatusCode.OK: "Ok", StatusCode.ERROR: "Error"}
NO_EVENTS: tuple[list[object], ...] = ([], [], [])
NO_LINKS: tuple[list[object], ...] = ([], [], [], [])


def span_rows(
    trace: Trace,
    shortener: Shortener,
    writer: tuple[str, int],
    *,
    generation: int,
    kept: Collection[str] | None = None,
) -> tuple[list[Row], int]:
    """One row a span, in the order of SPAN_COLUMNS, and their size in characters.

    `kept` are the ids of the spans that get one, None if all do.
    """
    received = trace.received_unix_nano // 10**9
    tail = (received, generation, trace.backfill, *writer)
    if trace.plain is not None:
        return [(*values, *tail) for values in trace.plain.rows], trace.plain.characters
    resources: dict[int, dict[str, str]] = {}
    rows, size = [], 0
    for span in trace.spans:
        if kept is not None and span.span_id not in kept:
            continue
        values, characters = span_values(span, _resource(span, resources), shortener)
        size += characters
        rows.append((*values, *tail))
    return rows, size


SPAN_COLUMNS = declare(
    "spans",
    (
        *("Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind"),
        *("ServiceName", "ResourceAttributes", "ScopeName", "ScopeVersion", "SpanAttributes"),
        *("Duration", "StatusCode", "StatusMessage"),
        *("Events.Timestamp", "Events.Name", "Events.Attributes"),
        *("Links.TraceId", "Links.SpanId", "Links.TraceState", "Links.Attributes"),
        *("DroppedAttributes", "Received", "Generation", "Backfill", "Replica", "Epoch"),
    ),
)


def span_values(span: Span, resource: dict[str, str], shortener: Shortener) -> tuple[Row, int]:
    """All columns but the last five, which depend on the trace, and the size in characters.

    `resource` holds the attributes of the span's resource as strings.
    """
    attributes, size = short_map(span.attributes, shortener)
    start = nanos(span.start_unix_nano)
    values = (
        start,
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.trace_state,
        span.name,
        KINDS[span.kind],
        resource.get("service.name", ""),
        resource,
        span.scope.name,
        span.scope.version,
        attributes,
        max(0, nanos(span.end_unix_nano) - start),
        STATUS[span.status],
        shortener.short(span.status_message),
        *(_events(span.events, span.logs, shortener) if span.events or span.logs else NO_EVENTS),
        *(_links(span.links) if span.links else NO_LINKS),
        span.dropped_attributes_count,
    )
    return values, size


def short_map(attributes: Attributes, shortener: Shortener) -> tuple[dict[str, str], int]:
    """Values as strings with marks for texts, and their size in characters."""
    short, size, shorten = {}, 0, shortener.short
    for key, value in attributes.items():
        text = value if type(value) is str else as_text(value)
        # A shorter one holds no document text, and an ASCII one no mark (`⟦`): most stay as is.
        if len(text) >= SHORTEST or not text.isascii():
            text = shorten(text)
        short[key] = text
        size += len(text) + len(key)
    return short, size


def _resource(span: Span, by_identity: dict[int, dict[str, str]]) -> dict[str, str]:
    """Resource attributes as strings; spans of one request share their resource."""
    place = id(span.resource)
    if place not in by_identity:
        by_identity[place] = strings(span.resource.attributes)
    return by_identity[place]


def strings(attributes: Attributes) -> dict[str, str]:
    """Values as strings, whole."""
    return {key: as_text(value) for key, value in attributes.items()}


def _events(
    events: Iterable[Event], logs: Iterable[LogRecord], shortener: Shortener
) -> tuple[list[object], ...]:
    """Times, names and attributes; the log records of a span follow its events."""
    entries = [(event.time_unix_nano, event.name, event.attributes) for event in events]
    entries += [(log.time_unix_nano, log.event_name or "log", _log(log)) for log in logs]
    return (
        [nanos(time) for time, _, _ in entries],
        [name for _, name, _ in entries],
        [short_map(attributes, shortener)[0] for _, _, attributes in entries],
    )


def _log(log: LogRecord) -> Attributes:
    more: Mapping[str, object] = {"log.severity": log.severity} if log.severity else {}
    return {**log.attributes, "log.body": log.body, **more}  # type: ignore[dict-item]


def _links(links: Iterable[Link]) -> tuple[list[object], ...]:
    listed = list(links)
    return (
        [link.trace_id for link in listed],
        [link.span_id for link in listed],
        [link.trace_state for link in listed],
        [strings(link.attributes) for link in listed],
    )
