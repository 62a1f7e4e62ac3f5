"""The `otel_traces` table of the Collector's ClickHouse exporter, over HTTP.

The position of an import is a time: the next run reads what a Collector added since, with later
times. In a table of maps all values are texts, and stay texts. In a table of JSON (`json: true`)
values have types, and dotted names are stored as a tree.
Source: opentelemetry-collector-contrib `exporter/clickhouseexporter`, `internal/sqltemplates`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.backfill.pieces import BadRow, NotImportable, Piece, SourceSpan, batched, identity
from collector.backfill.values import clean, dumps, put
from ragvigil.store.records.otel_traces import PAGE_ROWS, NotReadable, read_otel_traces

KINDS = {
    "Internal": Span.SPAN_KIND_INTERNAL,
    "Server": Span.SPAN_KIND_SERVER,
    "Client": Span.SPAN_KIND_CLIENT,
    "Producer": Span.SPAN_KIND_PRODUCER,
    "Consumer": Span.SPAN_KIND_CONSUMER,
}
STATUSES = {"Ok": Status.STATUS_CODE_OK, "Error": Status.STATUS_CODE_ERROR}


def pieces(url: str, start: int, page_rows: int = PAGE_ROWS) -> Iterator[Piece]:
    """Reads the table's spans later than `start` (ns since 1970). Raises NotImportable."""
    try:
        yield from batched(_source_span(row) for row in read_otel_traces(url, start, page_rows))
    except NotReadable as error:
        raise NotImportable(str(error)) from error


def _source_span(row: dict[str, Any]) -> SourceSpan:
    started = int(row["Start"])
    try:
        span, resource = span_of(row), attributes_of(row["ResourceText"])
    except BadRow as error:
        return SourceSpan(place=started, refused=f"span {str(row['SpanId'])[:64]!r}: {error}")
    return SourceSpan(
        place=started,
        span=span,
        resource=resource,
        scope=(clean(row["ScopeName"]), clean(row["ScopeVersion"])),
    )


def span_of(row: dict[str, Any]) -> Span:
    """The span of a row. Raises BadRow."""
    started = int(row["Start"])
    if started <= 0 or int(row["Duration"]) < 0:
        raise BadRow("its time is before 1970 or its duration below zero")
    span = Span(
        trace_id=identity(row["TraceId"], 16),
        span_id=identity(row["SpanId"], 8),
        # An id of zeros means no parent.
        parent_span_id=identity(row["ParentSpanId"], 8) if row["ParentSpanId"].strip("0") else b"",
        trace_state=clean(row["TraceState"]),
        name=clean(row["SpanName"]),
        kind=KINDS.get(_last(row["SpanKind"]), Span.SPAN_KIND_UNSPECIFIED),
        start_time_unix_nano=started,
        end_time_unix_nano=started + int(row["Duration"]),
        status=Status(
            code=STATUSES.get(_last(row["StatusCode"]), Status.STATUS_CODE_UNSET),
            message=clean(row["StatusMessage"]),
        ),
    )
    put(span.attributes, attributes_of(row["SpanText"]))
    _add_events(span, row)
    _add_links(span, row)
    return span


class _Object(list[tuple[str, Any]]):
    """A JSON object as pairs: ClickHouse writes a name twice if it is both a leaf and a branch."""


def attributes_of(column: str) -> dict[str, object]:
    """Attributes in a column of maps or of JSON, under their original names.

    >>> attributes_of('{"prompt":"x","prompt":{"id":1,"tags":["a"]}}')
    {'prompt': 'x', 'prompt.id': 1, 'prompt.tags': ['a']}

    Raises BadRow.
    """
    try:
        pairs = json.loads(column, object_pairs_hook=_Object)
        if isinstance(pairs, _Object):
            return dict(_flat(pairs, ""))
    except (ValueError, RecursionError) as error:
        raise BadRow("its attributes cannot be read") from error
    raise BadRow("its attributes are no object")


def _flat(pairs: _Object, prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in pairs:
        if isinstance(value, _Object):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, list) and any(isinstance(member, list) for member in value):
            yield prefix + key, dumps(_plain(value))
        else:
            yield prefix + key, value


def _plain(value: object) -> object:
    if isinstance(value, _Object):
        return {key: _plain(member) for key, member in value}
    return [_plain(member) for member in value] if isinstance(value, list) else value


def _last(word: str) -> str:
    """`Server` for both `Server` and the older `SPAN_KIND_SERVER`."""
    return word.rpartition("_")[2].capitalize()


def _add_events(span: Span, row: dict[str, Any]) -> None:
    columns = (row["EventTimes"], row["EventNames"], row["EventTexts"])
    for at, name, attributes in zip(*columns, strict=True):
        event = span.events.add(time_unix_nano=max(0, int(at)), name=clean(name))
        put(event.attributes, attributes_of(attributes))


def _add_links(span: Span, row: dict[str, Any]) -> None:
    columns = (row["LinkTraces"], row["LinkSpans"], row["LinkStates"], row["LinkTexts"])
    for trace, linked, state, attributes in zip(*columns, strict=True):
        if trace and linked:
            link = span.links.add(
                trace_id=identity(trace, 16), span_id=identity(linked, 8), trace_state=clean(state)
            )
            put(link.attributes, attributes_of(attributes))
