"""Spans of which no record has a use: told apart, and made rows, without becoming a `Span`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from collector.claims.registry import registered
from collector.claims.relevance import Relevance, with_parents
from collector.conventions.vector_db import is_search
from collector.decode.spans import NO_PARENT, attributes_of, to_scope, to_span
from ragvigil.model.span import PlainSpans, Resource, Span, SpanKind, StatusCode
from ragvigil.store.engine.batch import Row
from ragvigil.store.engine.table import nanos
from ragvigil.store.records.span_rows import (
    KINDS,
    NO_EVENTS,
    NO_LINKS,
    STATUS,
    short_map,
    span_values,
    strings,
)
from ragvigil.store.records.texts import Shortener
from ragvigil.store.settings import KeptSpans

MARK = "ragvigil"
_NO_TEXTS = Shortener(())
_KINDS = {kind.value: name for kind, name in KINDS.items()}
_STATUSES = {code.value: name for code, name in STATUS.items()}
_UNSPECIFIED, _UNSET = KINDS[SpanKind.UNSPECIFIED], STATUS[StatusCode.UNSET]


@cache
def relevance() -> Relevance:
    """By the registered conventions."""
    return Relevance(registered(), is_search)


def may_matter(span: Any) -> bool:
    """Whether a protobuf span may say something of an answer."""
    names = tuple([pair.key for pair in span.attributes])
    events = [event.name for event in span.events] if span.events else ()
    return relevance().of_names(names, events, lambda: (_of_database(span), span.name))


def is_marked_offline(resource: Any, span: Any) -> bool:
    """Whether an evaluation may have sent the span; spans that matter are not asked."""
    return MARK in span.trace_state or any(MARK in pair.key for pair in resource.attributes)


def _of_database(span: Any) -> dict[str, Any]:
    return attributes_of([pair for pair in span.attributes if pair.key.startswith("db.")])


def plain_spans(items: Sequence[tuple[Any, Any, Any]], keeps: KeptSpans) -> PlainSpans:
    """What is kept of the protobuf resources, scopes and spans of a trace; at least one."""
    service = attributes_of(items[0][0].attributes).get("service.name", "")
    counted = PlainSpans(
        count=len(items),
        ended_unix_nano=max(span.end_time_unix_nano for _, _, span in items),
        service=service if isinstance(service, str) else "",
    )
    if keeps is not KeptSpans.ALL:
        return counted
    texts: dict[int, dict[str, str]] = {}
    rows, characters = [], 0
    for resource, scope, span in items:
        place = id(resource)  # `items` keeps it alive
        if place not in texts:
            texts[place] = strings(attributes_of(resource.attributes))
        if span.events or span.links or span.status.message:  # seldom: the whole way
            whole = to_span(Resource(), to_scope(scope), span)
            values, size = span_values(whole, texts[place], _NO_TEXTS)
        else:
            values, size = _values(span, scope, texts[place])
        rows.append(values)
        characters += size
    return replace(counted, rows=tuple(rows), characters=characters)


def _values(span: Any, scope: Any, resource: dict[str, str]) -> tuple[Row, int]:
    """What `span_values` gives for a span without events, links and a message."""
    attributes, size = short_map(attributes_of(span.attributes), _NO_TEXTS)
    start = nanos(span.start_time_unix_nano)
    parent = span.parent_span_id
    values = (
        start,
        span.trace_id.hex(),
        span.span_id.hex(),
        "" if parent == NO_PARENT else parent.hex(),
        span.trace_state,
        span.name,
        _KINDS.get(span.kind, _UNSPECIFIED),
        resource.get("service.name", ""),
        resource,
        scope.name,
        scope.version,
        attributes,
        max(0, nanos(span.end_time_unix_nano) - start),
        _STATUSES.get(span.status.code, _UNSET),
        "",
        *NO_EVENTS,
        *NO_LINKS,
        span.dropped_attributes_count,
    )
    return values, size


def kept_ids(spans: Iterable[Span], keeps: KeptSpans) -> frozenset[str] | None:
    """The ids of the spans that the settings keep, None if all are kept."""
    if keeps is KeptSpans.ALL:
        return None
    if keeps is KeptSpans.NONE:
        return frozenset()
    parents = {span.span_id: span.parent_span_id for span in spans}
    return with_parents([span.span_id for span in spans if relevance().of_span(span)], parents)
