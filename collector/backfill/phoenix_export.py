"""Phoenix' exports: its table of spans, and the spans that its REST API lists.

`get_spans_dataframe()` written as parquet, CSV or JSON, and `/v1/projects/{id}/spans`. Attributes
get their OpenInference names back. Phoenix keeps no resource: the service is unknown.
Source: Phoenix 20.26 and the table of phoenix.client.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.backfill.pieces import BadRow, Piece, SourceSpan, batched, by_trace, identity
from collector.backfill.rows import Row, rows
from collector.backfill.values import clean, dumps, is_absent, loads, nanoseconds, put

PREFIX = "attributes."
KIND = "openinference.span.kind"
STATUSES = {"OK": Status.STATUS_CODE_OK, "ERROR": Status.STATUS_CODE_ERROR}
NESTED = (
    "metadata", "documents", "messages", "embeddings", "tools", "events", "variables",
    "token_count", "contents", "attributes", "tags",
)  # fmt: skip
"""Last parts of names of columns with lists or objects, which CSV writes as text."""


def pieces(path: Path, start: int) -> Iterator[Piece]:
    """Reads the file's traces behind place `start`, in batches. Raises NotImportable."""
    return batched(by_trace(_source_spans(path), start))


def _source_spans(path: Path) -> Iterator[SourceSpan]:
    for where, row in rows(path):
        try:
            yield SourceSpan(place=0, span=span_of(row))
        except BadRow as error:
            yield SourceSpan(place=0, refused=f"{where}: {error}")
        except RecursionError:
            yield SourceSpan(place=0, refused=f"{where}: is nested too deeply")


def span_of(row: Row | None) -> Span:
    """The span of a row. Raises BadRow."""
    if row is None:
        raise BadRow("is no span")
    context = row.get("context")
    ids = context if isinstance(context, dict) else {}
    span = Span(
        trace_id=identity(row.get("context.trace_id", ids.get("trace_id")), 16),
        span_id=identity(row.get("context.span_id", ids.get("span_id")), 8),
        name=clean(str(row.get("name") or "")),
    )
    if isinstance(row.get("parent_id"), str) and row["parent_id"]:
        span.parent_span_id = identity(row["parent_id"], 8)
    started, ended = nanoseconds(row.get("start_time")), nanoseconds(row.get("end_time"))
    if started is None:
        raise BadRow("has no start_time")
    span.start_time_unix_nano, span.end_time_unix_nano = started, ended or 0
    span.status.code = STATUSES.get(str(row.get("status_code")).upper(), Status.STATUS_CODE_UNSET)
    span.status.message = clean(str(row.get("status_message") or ""))
    put(span.attributes, attributes_of(row))
    _add_events(span, parsed("events", row.get("events")))
    return span


def attributes_of(row: Row) -> dict[str, object]:
    """Attributes under their flat OpenInference names."""
    flat: dict[str, object] = {}
    tree = parsed("attributes", row.get("attributes"))
    _flatten("", tree if isinstance(tree, dict) else {}, flat)
    for key, value in row.items():
        if key.startswith(PREFIX):
            name = key.removeprefix(PREFIX)
            _flatten(name, parsed(name, value), flat)
    kind = row.get("span_kind")
    if isinstance(kind, str) and kind not in ("", "UNKNOWN"):
        flat.setdefault(KIND, kind)
    metadata = {k: flat.pop(k) for k in list(flat) if k.startswith("metadata.")}
    if metadata and "metadata" not in flat:
        flat["metadata"] = dumps({k.removeprefix("metadata."): v for k, v in metadata.items()})
    return flat


def parsed(name: str, value: object) -> object:
    """Restores a list or object that CSV wrote as text; any other cell unchanged."""
    if not isinstance(value, str) or name.rpartition(".")[2] not in NESTED:
        return value
    for read in (loads, ast.literal_eval):  # the table has Python's repr
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return read(value)
    return value


def _flatten(name: str, value: object, into: dict[str, object]) -> None:
    """Flattens `{"a": [{"b": 1}]}` to `a.0.b`; metadata becomes JSON text, as sent originally."""
    if is_absent(value):
        return
    dotted = f"{name}." if name else ""
    if isinstance(value, dict) and name.rpartition(".")[2] == "metadata":
        into[name] = dumps({k: v for k, v in value.items() if not is_absent(v)})
    elif isinstance(value, dict):
        for key, member in value.items():
            _flatten(f"{dotted}{key}", member, into)
    elif isinstance(value, list | tuple) and any(isinstance(member, dict) for member in value):
        for place, member in enumerate(value):
            _flatten(f"{dotted}{place}", member, into)
    else:
        into[name] = _whole(name, value)


def _whole(name: str, value: object) -> object:
    """Restores counts as integers: a column with missing cells turns 3 into 3.0."""
    is_count = ".token_count." in name and isinstance(value, float) and value.is_integer()
    return int(value) if is_count and isinstance(value, float) else value


def _add_events(span: Span, events: Any) -> None:
    for event in events if isinstance(events, list | tuple) else ():
        if not isinstance(event, dict):
            continue
        added = span.events.add(name=clean(str(event.get("name") or "")))
        added.time_unix_nano = nanoseconds(event.get("timestamp")) or 0
        flat: dict[str, object] = {}
        _flatten("", event.get("attributes") or {}, flat)
        put(added.attributes, {k: v for k, v in flat.items() if k})
