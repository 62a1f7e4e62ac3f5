"""Langfuse's exports: observations and traces, a row each, or traces with their observations.

In snake and in camel case: the blob storage export (v3: `traces/`, `observations/`; v4:
`observations_v2/`), the export of its pages, the download of a trace's page, and responses of its
public API. Attributes get the names that Langfuse's own SDK sends. Scores become feedback, also
those inside a trace.
Source: langfuse.com, Blob Storage Export Field Reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.backfill.langfuse_scores import carrier_of, is_score
from collector.backfill.pieces import BadRow, Piece, SourceSpan, batched, by_trace, identity
from collector.backfill.rows import Row, rows
from collector.backfill.values import clean, dumps, is_absent, loads, nanoseconds, put

HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
OBSERVED = "langfuse.observation."
OF_OBSERVATION = {
    "input": f"{OBSERVED}input",
    "output": f"{OBSERVED}output",
    "level": f"{OBSERVED}level",
    "status_message": f"{OBSERVED}status_message",
    "provided_model_name": f"{OBSERVED}model.name",
    "model": f"{OBSERVED}model.name",
    "model_parameters": f"{OBSERVED}model.parameters",
    "usage_details": f"{OBSERVED}usage_details",
    "cost_details": f"{OBSERVED}cost_details",
    "completion_start_time": f"{OBSERVED}completion_start_time",
    "prompt_name": f"{OBSERVED}prompt.name",
    "prompt_version": f"{OBSERVED}prompt.version",
    "version": "langfuse.version",
    "environment": "langfuse.environment",
    "release": "langfuse.release",
    "trace_name": "langfuse.trace.name",
    "user_id": "user.id",
    "session_id": "session.id",
    "tags": "langfuse.trace.tags",
}
OF_TRACE = {
    "name": "langfuse.trace.name",
    "input": "langfuse.trace.input",
    "output": "langfuse.trace.output",
    "release": "langfuse.release",
    "version": "langfuse.version",
    "environment": "langfuse.environment",
    "user_id": "user.id",
    "session_id": "session.id",
    "tags": "langfuse.trace.tags",
}
USAGES = ("input", "output", "total")


def pieces(path: Path, start: int) -> Iterator[Piece]:
    """Reads the file's traces behind place `start`, in batches. Raises NotImportable."""
    return batched(by_trace(_source_spans(path), start))


def _source_spans(path: Path) -> Iterator[SourceSpan]:
    traces: dict[str, Row] = {}
    observations: list[tuple[str, Row]] = []
    scores: dict[str, SourceSpan] = {}
    for where, row in rows(path):
        try:
            _sort_in(where, row, traces, observations, scores)
        except BadRow as error:
            yield SourceSpan(place=0, refused=f"{where}: {error}")
    yield from scores.values()
    used: set[str] = set()
    for where, plain in observations:
        trace = str(plain.get("trace_id"))
        used.add(trace)
        try:
            span, resource = span_of(plain, traces.get(trace, {}))
        except BadRow as error:
            yield SourceSpan(place=0, refused=f"{where}: {error}")
            continue
        except RecursionError:
            yield SourceSpan(place=0, refused=f"{where}: is nested too deeply")
            continue
        yield SourceSpan(place=0, span=span, resource=resource)
    for trace in traces.keys() - used:
        yield SourceSpan(
            place=0, refused=f"trace {trace[:64]}: none of its observations is in the file"
        )


def _sort_in(
    where: str,
    row: Row | None,
    traces: dict[str, Row],
    observations: list[tuple[str, Row]],
    scores: dict[str, SourceSpan],
) -> None:
    if row is None:
        raise BadRow("is neither an observation, a trace nor a score")
    plain = {HUMP.sub("_", key).lower(): value for key, value in _of_page(row).items()}
    if is_score(plain):
        carrier_ = carrier_of(plain)
        scores[carrier_.span.span_id.hex() if carrier_.span else where] = (
            carrier_  # it may be both in a trace and alone
        )
    elif plain.get("trace_id"):
        observations.append((where, plain))
    elif isinstance(plain.get("id"), str) and ("timestamp" in plain or "observations" in plain):
        traces[plain["id"]] = plain
        for child in (*_rows_in(plain, "observations"), *_rows_in(plain, "scores")):
            _sort_in(where, {"traceId": plain["id"], **child}, traces, observations, scores)
    else:
        raise BadRow("is neither an observation, a trace nor a score")


def _of_page(row: Row) -> Row:
    """A trace with its observations; the download of a page puts them beside the trace."""
    trace, observations = row.get("trace"), row.get("observations")
    if isinstance(trace, dict) and isinstance(observations, list) and "id" not in row:
        return {**trace, "observations": observations}
    return row


def _rows_in(trace: Row, what: str) -> list[Row]:
    """The rows inside a trace; a list of traces has only their ids."""
    children = _decode_cell(trace.get(what))
    return (
        [child for child in children if isinstance(child, dict)]
        if isinstance(children, list)
        else []
    )


def span_of(row: Row, trace: Row) -> tuple[Span, Mapping[str, object]]:
    """The span of an observation, and its resource. Raises BadRow."""
    span = Span(
        trace_id=identity(row.get("trace_id"), 16),
        span_id=identity(row.get("id"), 8),
        name=clean(str(row.get("name") or "")),
    )
    parent = row.get("parent_observation_id")
    # A root that Langfuse received over OTLP may have its trace as parent.
    if isinstance(parent, str) and parent and parent != row["trace_id"]:
        span.parent_span_id = identity(parent, 8)
    started, ended = nanoseconds(row.get("start_time")), nanoseconds(row.get("end_time"))
    if started is None:
        raise BadRow("has no start time")
    kind = str(row.get("type") or "span").lower()
    span.start_time_unix_nano = started
    # An event has no duration; any other observation without an end never ended.
    span.end_time_unix_nano = ended or (started if kind == "event" else 0)
    if str(row.get("level")).upper() == "ERROR":
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = clean(str(row.get("status_message") or ""))
    own_attributes, resource = _otlp_attributes(row)
    attributes = {
        **own_attributes,
        f"{OBSERVED}type": kind,
        **_attributes(row, OF_OBSERVATION),
        **_usage(row),
    }
    if not span.parent_span_id:
        attributes = {
            **_attributes(trace, OF_TRACE),
            **_metadata(trace, "langfuse.trace."),
            **attributes,
        }
    put(span.attributes, {**attributes, **_metadata(row, OBSERVED)})
    return span, resource


def _attributes(row: Row, names: Mapping[str, str]) -> dict[str, object]:
    attributes = {}
    for key, name in names.items():
        value = row.get(key)
        if not is_absent(value) and value not in ("", {}, []):
            attributes[name] = _encode(value)
    return attributes


def _usage(row: Row) -> dict[str, object]:
    """Token counts of an older export without details: `usage`, or a column each."""
    if _decode_cell(row.get("usage_details")):
        return {}
    usage = _decode_cell(row.get("usage"))
    counts = usage if isinstance(usage, dict) else {}
    counts = {name: counts.get(name, row.get(f"{name}_usage")) for name in USAGES}
    known = {name: count for name, count in counts.items() if isinstance(count, int) and count > 0}
    return {f"{OBSERVED}usage_details": _encode(known)} if known else {}


def _otlp_attributes(row: Row) -> tuple[dict[str, object], dict[str, object]]:
    """Attributes of span and resource, which Langfuse keeps for spans received over OTLP."""
    metadata = _decode_cell(row.get("metadata"))
    fields = metadata if isinstance(metadata, dict) else {}
    parts = (_decode_cell(fields.get("attributes")), _decode_cell(fields.get("resourceAttributes")))
    attributes, resource = (_flat(part) if isinstance(part, dict) else {} for part in parts)
    return attributes, resource


def _flat(values: dict[str, Any]) -> dict[str, object]:
    return {
        key: _encode(value) if isinstance(value, dict) else value for key, value in values.items()
    }


def _metadata(row: Row, prefix: str) -> dict[str, object]:
    metadata = _decode_cell(row.get("metadata"))
    if not isinstance(metadata, dict):
        return {}
    left_out = ("attributes", "resourceAttributes", "scope")
    return {
        f"{prefix}metadata.{key}": _encode(value)
        for key, value in metadata.items()
        if key not in left_out and not is_absent(value)
    }


def _decode_cell(value: object) -> object:
    """Decodes a cell: JSON text, or a parquet map, which is a list of pairs; others unchanged."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return loads(value)
        except ValueError:
            return value
    if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
        return dict(value)
    return value


def _encode(value: object) -> object:
    """Texts, numbers and lists of texts unchanged; anything else as JSON, as the SDK sends it."""
    decoded = value if isinstance(value, str) else _decode_cell(value)
    if isinstance(decoded, list) and all(isinstance(member, str) for member in decoded):
        return decoded
    if isinstance(decoded, str | bool | int | float):
        return decoded
    return dumps(decoded)
