"""Converts protobuf spans and log records to frozen values. Total: whatever parsed, converts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from collector.decode.shape import SHAPES
from ragvigil.model.span import (
    MAX_VALUE_CHARACTERS,
    AttributeValue,
    Event,
    Link,
    LogRecord,
    Resource,
    Scope,
    Signal,
    Span,
    SpanKind,
    StatusCode,
)

MAX_NESTING = 20
TOO_DEEP = "[nested too deep]"
NO_PARENT = bytes(8)
KINDS = {kind.value: kind for kind in SpanKind}
STATUSES = {code.value: code for code in StatusCode}


def iterate(request: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Resource, scope and item of a traces or logs request, in the order of their flat index."""
    is_traces = hasattr(request, "resource_spans")
    shape = SHAPES[Signal.TRACES if is_traces else Signal.LOGS]
    for container in shape.containers(request):
        for scoped in shape.scopes(container):
            for item in shape.items(scoped):
                yield container.resource, scoped.scope, item


def decode_spans(request: Any) -> list[Span]:
    """The spans of a traces request, by flat index; they share their resources and scopes."""
    spans: list[Span] = []
    for container in request.resource_spans:
        resource = to_resource(container.resource)
        for scoped in container.scope_spans:
            scope = to_scope(scoped.scope)
            spans += [to_span(resource, scope, item) for item in scoped.spans]
    return spans


def decode_logs(request: Any) -> list[LogRecord]:
    """The records of a logs request, by flat index."""
    return [
        to_log(to_scope(scoped.scope), item)
        for container in request.resource_logs
        for scoped in container.scope_logs
        for item in scoped.log_records
    ]


def to_resource(resource: Any) -> Resource:
    """Converts a resource."""
    return Resource(attributes=attributes_of(resource.attributes))


def to_scope(scope: Any) -> Scope:
    """Converts an instrumentation scope."""
    return Scope(name=scope.name, version=scope.version)


def to_span(resource: Resource, scope: Scope, span: Any) -> Span:
    """Converts a span; values beyond 1 MiB are cut, with a mark that tells their length."""
    status = span.status
    parent = span.parent_span_id
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id="" if parent == NO_PARENT else parent.hex(),
        name=span.name,
        kind=KINDS.get(span.kind, SpanKind.UNSPECIFIED),
        start_unix_nano=span.start_time_unix_nano,
        end_unix_nano=span.end_time_unix_nano,
        status=STATUSES.get(status.code, StatusCode.UNSET),
        status_message=status.message,
        attributes=attributes_of(span.attributes),
        events=tuple([_event(event) for event in span.events]),
        links=tuple([_link(link) for link in span.links]),
        resource=resource,
        scope=scope,
        trace_state=span.trace_state,
        dropped_attributes_count=span.dropped_attributes_count,
        dropped_events_count=span.dropped_events_count,
        dropped_links_count=span.dropped_links_count,
    )


def to_log(scope: Scope, log: Any) -> LogRecord:
    """Converts a log record; a missing time is replaced by the observed time."""
    attributes = attributes_of(log.attributes)
    event_name = log.event_name or attributes.get("event.name")
    return LogRecord(
        trace_id=log.trace_id.hex(),
        span_id="" if log.span_id == NO_PARENT else log.span_id.hex(),
        time_unix_nano=log.time_unix_nano or log.observed_time_unix_nano,
        event_name=event_name if isinstance(event_name, str) else "",
        body=_value(log.body, MAX_NESTING),
        attributes=attributes,
        severity=log.severity_text,
        scope=scope,
    )


def _event(event: Any) -> Event:
    return Event(
        name=event.name,
        time_unix_nano=event.time_unix_nano,
        attributes=attributes_of(event.attributes),
    )


def _link(link: Any) -> Link:
    return Link(
        trace_id=link.trace_id.hex(),
        span_id=link.span_id.hex(),
        trace_state=link.trace_state,
        attributes=attributes_of(link.attributes),
    )


def attributes_of(pairs: Iterable[Any]) -> dict[str, AttributeValue]:
    """Keys and values; the last value of a repeated key wins.

    Most values are non-empty texts or non-zero scores: these skip the slow `WhichOneof`.
    """
    attributes: dict[str, AttributeValue] = {}
    for pair in pairs:
        value = pair.value
        plain = value.string_value or value.double_value
        if not plain:
            plain = _value(value, MAX_NESTING)
        elif type(plain) is str and len(plain) > MAX_VALUE_CHARACTERS:
            plain = _cut(plain)
        attributes[pair.key] = plain
    return attributes


def _value(value: Any, nesting: int) -> AttributeValue:
    """An AnyValue as a Python value; None if it is empty or of an unknown kind."""
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return _cut(value.string_value)
    if kind in ("int_value", "double_value", "bool_value"):
        return getattr(value, kind)  # type: ignore[no-any-return]
    if kind == "bytes_value":
        return bytes(value.bytes_value[:MAX_VALUE_CHARACTERS])
    if kind in ("array_value", "kvlist_value"):
        return _container(value, kind, nesting)
    return None


def _container(value: Any, kind: str, nesting: int) -> AttributeValue:
    if nesting == 0:
        return TOO_DEEP
    if kind == "array_value":
        return [_value(child, nesting - 1) for child in value.array_value.values]
    return {pair.key: _value(pair.value, nesting - 1) for pair in value.kvlist_value.values}


def _cut(text: str) -> str:
    if len(text) <= MAX_VALUE_CHARACTERS:
        return text
    return f"{text[:MAX_VALUE_CHARACTERS]}…[cut from {len(text)} characters]"
