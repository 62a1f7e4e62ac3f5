"""Which services and scopes sent spans, and some of their traces, read back as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from ragvigil.model.span import (
    AttributeValue,
    Closed,
    Event,
    LogRecord,
    Resource,
    Scope,
    Span,
    Trace,
)
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.records.records import restored
from ragvigil.store.records.span_rows import KINDS, STATUS

NAMES_A_SCOPE = 4
"""Names of spans of which the newest trace is a sample of its service and scope."""
MOST_TRACES = 100
_SPAN_KINDS = {name: kind for kind, name in KINDS.items()}
_STATUS_CODES = {name: code for code, name in STATUS.items()}


def sources(store: Store, since: int) -> list[dict[str, Any]]:
    """The services and scopes of spans received since a time (seconds since the epoch).

    Each has `service, scope, spans, trace_ids`; an unnamed service is empty. A span that was stored
    twice may count twice.
    """
    parameters = {"since": since, "names": NAMES_A_SCOPE}
    return store.read("span_sources", parameters, priority=Priority.SCAN)


def traces(store: Store, trace_ids: Iterable[str], since: int) -> list[Trace]:
    """The first `MOST_TRACES` of these traces, as stored: attribute values are texts."""
    some = list(dict.fromkeys(trace_ids))[:MOST_TRACES]
    if not some:
        return []
    parameters = {"trace_ids": some, "since": since}
    rows = restored(store, store.read("spans_of_traces", parameters, priority=Priority.SCAN))
    return [
        _trace(trace_id, [_span(row) for row in group])
        for trace_id, group in groupby(rows, key=lambda row: str(row["TraceId"]))
    ]


def _trace(trace_id: str, spans: list[Span]) -> Trace:
    return Trace(
        trace_id=trace_id, spans=tuple(spans), closed=Closed.ROOT_ENDED, received_unix_nano=0
    )


def _span(row: Mapping[str, Any]) -> Span:
    start = int(row["start_nanos"])
    events = list(
        zip(row["event_nanos"], row["Events.Name"], row["Events.Attributes"], strict=True)
    )
    return Span(
        trace_id=row["TraceId"],
        span_id=row["SpanId"],
        parent_span_id=row["ParentSpanId"],
        name=row["SpanName"],
        kind=_SPAN_KINDS[row["SpanKind"]],
        start_unix_nano=start,
        end_unix_nano=start + int(row["Duration"]),
        status=_STATUS_CODES[row["StatusCode"]],
        status_message=row["StatusMessage"],
        attributes=row["SpanAttributes"],
        events=tuple(
            Event(name=name, time_unix_nano=int(time), attributes=attributes)
            for time, name, attributes in events
            if "log.body" not in attributes
        ),
        logs=tuple(
            _log(row, int(time), name, attributes)
            for time, name, attributes in events
            if "log.body" in attributes
        ),
        resource=Resource(attributes=row["ResourceAttributes"]),
        scope=Scope(name=row["ScopeName"], version=row["ScopeVersion"]),
        dropped_attributes_count=int(row["DroppedAttributes"]),
    )


def _log(
    row: Mapping[str, Any], time_unix_nano: int, name: str, attributes: Mapping[str, str]
) -> LogRecord:
    """A log record, which the table keeps as an event."""
    return LogRecord(
        trace_id=row["TraceId"],
        span_id=row["SpanId"],
        time_unix_nano=time_unix_nano,
        event_name=name,
        body=_value(attributes["log.body"]),
        attributes={key: value for key, value in attributes.items() if key != "log.body"},
    )


def _value(text: str) -> AttributeValue:
    """The list or map that a text holds, else the text."""
    if not text.startswith(("{", "[")):
        return text
    try:
        value: AttributeValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
