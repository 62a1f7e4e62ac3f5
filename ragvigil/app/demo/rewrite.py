"""Rewrites recorded bodies to other times and other ids. Pure: body in, body out.

New ids are a keyed hash of the old ones: parts of a trace in different requests, in links and in
logs still match, and nothing needs to be remembered between bodies.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ragvigil.app.demo.recording import JSON, Kind, RecordedRequest

_ID_KEYS = {"traceid": 16, "spanid": 8, "parentspanid": 8}
_REQUESTS: dict[Kind, type[Message]] = {
    Kind.TRACES: ExportTraceServiceRequest,
    Kind.LOGS: ExportLogsServiceRequest,
}


class Unreadable(Exception):
    """A body is not what its name says, so nothing in it can be changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What to change: `shift_nanos` is added to every time; a `salt` makes new ids, empty none."""

    shift_nanos: int = 0
    salt: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """How many spans or log records a body holds, and the latest of their times."""

    items: int
    latest_unix_nano: int


def rewrite(recorded: RecordedRequest, change: Change) -> bytes:
    """The changed body. Raises Unreadable."""
    if change == Change() or recorded.kind is Kind.METRICS:
        return recorded.body
    if recorded.content_type == JSON:
        tree = _load(recorded)
        _rewrite_tree(tree, change)
        return orjson.dumps(tree)
    request = _parse(recorded)
    for item in _items(request):
        _rewrite_item(item, change)
    body: bytes = request.SerializeToString()
    return body


def contents(recorded: RecordedRequest) -> Contents:
    """Counts a body's items and finds its latest time. Raises Unreadable."""
    if recorded.kind is Kind.METRICS:
        return Contents(items=0, latest_unix_nano=0)
    if recorded.content_type == JSON:
        times = list(_tree_times(_load(recorded)))
        # A span has one end time, a log record one observed time.
        items = sum(1 for key, _ in times if key in ("endTimeUnixNano", "observedTimeUnixNano"))
        return Contents(items=items, latest_unix_nano=max((t for _, t in times), default=0))
    spans = list(_items(_parse(recorded)))
    latest = max((_item_end(item) for item in spans), default=0)
    return Contents(items=len(spans), latest_unix_nano=latest)


def new_id(old: bytes, salt: bytes) -> bytes:
    """The new id of an old one: of the same length, the same for the same salt.

    >>> new_id(b"", b"salt")
    b''
    >>> new_id(b"12345678", b"salt") == new_id(b"12345678", b"salt") != b"12345678"
    True
    """
    return blake2b(old, key=salt, digest_size=min(len(old), 64)).digest() if old else old


def _parse(recorded: RecordedRequest) -> Message:
    try:
        return _REQUESTS[recorded.kind].FromString(recorded.body)
    except DecodeError as error:
        raise Unreadable(f"{recorded.name}: is not a protobuf request: {error}") from error


def _load(recorded: RecordedRequest) -> Any:
    try:
        return orjson.loads(recorded.body)
    except orjson.JSONDecodeError as error:
        raise Unreadable(f"{recorded.name}: is not JSON: {error}") from error


def _items(request: Any) -> Iterator[Any]:
    if isinstance(request, ExportLogsServiceRequest):
        for resource_logs in request.resource_logs:
            for scope_logs in resource_logs.scope_logs:
                yield from scope_logs.log_records
        return
    for resource_spans in request.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            yield from scope_spans.spans


def _is_span(item: Any) -> bool:
    return hasattr(item, "start_time_unix_nano")


def _item_end(item: Any) -> int:
    return int(item.end_time_unix_nano if _is_span(item) else item.time_unix_nano)


def _rewrite_item(item: Any, change: Change) -> None:
    if change.salt:
        _rename(item, change.salt)
    if not change.shift_nanos:
        return
    if not _is_span(item):
        _move(item, change.shift_nanos, "time_unix_nano", "observed_time_unix_nano")
        return
    _move(item, change.shift_nanos, "start_time_unix_nano", "end_time_unix_nano")
    for event in item.events:
        _move(event, change.shift_nanos, "time_unix_nano")


def _rename(item: Any, salt: bytes) -> None:
    item.trace_id, item.span_id = new_id(item.trace_id, salt), new_id(item.span_id, salt)
    if _is_span(item):
        item.parent_span_id = new_id(item.parent_span_id, salt)
        for link in item.links:
            link.trace_id, link.span_id = new_id(link.trace_id, salt), new_id(link.span_id, salt)


def _move(item: Any, nanos: int, *fields: str) -> None:
    """Moves times; 0 means *unknown* in OTLP and stays 0."""
    for field in fields:
        time = getattr(item, field)
        if time:  # at least 1, so that a known time does not become unknown
            setattr(item, field, max(1, time + nanos))


def _rewrite_tree(node: Any, change: Change) -> None:
    """Changes OTLP/JSON in place, but for attributes and bodies: their keys are the user's."""
    if isinstance(node, list):
        for part in node:
            _rewrite_tree(part, change)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        plain = key.replace("_", "").lower()
        if plain in _ID_KEYS and change.salt:
            node[key] = _new_json_id(value, _ID_KEYS[plain], change.salt)
        elif key.endswith("UnixNano"):
            node[key] = _moved(value, change.shift_nanos)
        elif key not in ("attributes", "body"):
            _rewrite_tree(value, change)


def _moved(value: Any, nanos: int) -> Any:
    """Keeps the form: 64-bit integers are strings in OTLP/JSON, numbers with some senders."""
    time = _integer(value)
    if not time:
        return value
    moved = max(1, time + nanos)
    return str(moved) if isinstance(value, str) else moved


def _new_json_id(value: Any, length: int, salt: bytes) -> Any:
    if not isinstance(value, str) or not value:
        return value
    try:
        # OTLP/JSON writes ids in hex; protobuf's own JSON mapping, as base64.
        old = bytes.fromhex(value) if len(value) == 2 * length else base64.b64decode(value)
    except (ValueError, binascii.Error):
        return value
    return new_id(old, salt).hex()


def _tree_times(node: Any) -> Iterator[tuple[str, int]]:
    if isinstance(node, list):
        for part in node:
            yield from _tree_times(part)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key.endswith("UnixNano"):
                yield key, _integer(value) or 0
            elif key not in ("attributes", "body"):
                yield from _tree_times(value)


def _integer(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None
