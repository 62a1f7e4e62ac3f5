"""Converts OTLP/JSON to protobuf: `json_format` reads ids as base64 and is 20 times slower.

Ids are hex in either case. Base64 ids, from encoders that follow proto3 JSON, are recognised by
their length, accepted and counted. 64-bit integers come as strings or numbers, NaN and infinities
as strings. Fields have their JSON name (`traceId`) or, as proto3 JSON allows, their original one
(`trace_id`). Unknown fields are ignored, those of the request are counted. A span with a wrong
field is rejected alone.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from collector.decode.salvage import SalvagedRequest
from collector.decode.shape import SHAPES, Shape
from collector.metrics import BASE64_IDS, IGNORED
from collector.redaction.expression import compile_bytes
from collector.refusal import Malformed, Rejection

Json = Mapping[str, Any]
# A Unicode noncharacter, which no text contains, marks where bytes were not UTF-8.
BROKEN = "\ufdd0"
SURROGATE_PASS = "surrogatepass"
INT64 = range(-(1 << 63), 1 << 63)


SNAKE_CASE = compile_bytes(rb'"[a-z]+_[a-z_]+"\s*:')
"""Finds a key in snake case. In a text the quotation marks are escaped, so it finds none there."""


def _json_names(message: Any, seen: set[str]) -> dict[str, str]:
    """The JSON names of the fields of a message and of those inside it, where they differ."""
    if message is None or message.full_name in seen:
        return {}
    seen.add(message.full_name)
    names = {field.name: field.json_name for field in message.fields}
    for field in message.fields:
        names.update(_json_names(field.message_type, seen))
    return {name: json_name for name, json_name in names.items() if name != json_name}


JSON_NAMES = {
    name: json_name
    for shape in SHAPES.values()
    for name, json_name in _json_names(shape.request.DESCRIPTOR, set()).items()
}


class TooDeep(ValueError):
    """Lists and maps are nested too deep."""


class InvalidId(ValueError):
    """An id that is neither hex nor base64 of the right length."""


codecs.register_error("mark-broken", lambda error: (BROKEN, getattr(error, "end", 0)))


def read_json(body: bytes, shape: Shape, max_nesting: int) -> SalvagedRequest:
    """Converts a JSON body to a protobuf request; raises Malformed if it is none."""
    if not body:
        return SalvagedRequest(request=shape.request())
    document, is_broken = _load(body)
    if SNAKE_CASE.search(body):
        _rename(document)
    unknown = tuple(sorted(document.keys() - {_camel(shape.container_field)}))
    IGNORED.labels(kind="json_field").inc(len(unknown))
    saved = SalvagedRequest(request=shape.request(), unknown=unknown)
    reader = ITEMS[shape.item_field]
    for container in _objects(document, _camel(shape.container_field)):
        target = shape.containers(saved.request).add(schema_url=_text(container, "schemaUrl"))
        if isinstance(container.get("resource"), dict):
            target.resource.MergeFrom(_resource(container["resource"]))
        for scoped in _objects(container, _camel(shape.scope_field)):
            kept = shape.scopes(target).add(schema_url=_text(scoped, "schemaUrl"))
            if isinstance(scoped.get("scope"), dict):
                kept.scope.MergeFrom(_scope(scoped["scope"]))
            for item in _objects(scoped, _camel(shape.item_field), only_objects=False):
                if is_broken and BROKEN in json.dumps(item, ensure_ascii=False):
                    saved.rejected[Rejection.INVALID_UTF8] += 1
                    continue
                try:
                    shape.items(kept).append(shape.item(**reader(item, max_nesting)))
                except (TypeError, ValueError, OverflowError, AttributeError) as error:
                    saved.rejected[_reason(error)] += 1
    return saved


def _rename(document: object) -> None:
    """Gives every field its JSON name: all keys of OTLP's JSON are names of fields."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for name in value.keys() & JSON_NAMES.keys():
                member = value.pop(name)
                if value.get(JSON_NAMES[name]) is None:
                    value[JSON_NAMES[name]] = member
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _reason(error: Exception) -> Rejection:
    if isinstance(error, TooDeep):
        return Rejection.TOO_DEEP
    return Rejection.INVALID_ID if isinstance(error, InvalidId) else Rejection.UNREADABLE


def _load(body: bytes) -> tuple[Json, bool]:
    """The document, and whether some of its bytes were not UTF-8 (marked by BROKEN)."""
    try:
        document, is_broken = orjson.loads(body), False
    except orjson.JSONDecodeError:
        document, is_broken = _load_leniently(body)
    if not isinstance(document, dict):
        raise Malformed("the body is not a JSON object")
    return document, is_broken


def _load_leniently(body: bytes) -> tuple[Any, bool]:
    """Also accepts bare NaN, lone surrogates (as U+FFFD) and bytes that are not UTF-8.

    The round trip through UTF-16 joins surrogate pairs and replaces lone surrogates.
    """
    text = body.decode("utf-8", "mark-broken").removeprefix("\ufeff")
    try:
        document = json.loads(text)
        whole = json.dumps(document, ensure_ascii=False)
        mended = whole.encode("utf-16", SURROGATE_PASS).decode("utf-16", "replace")
        return (document if mended == whole else json.loads(mended)), BROKEN in mended
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the body is not JSON: {str(error)[:200]}") from error


def _objects(parent: Json, key: str, *, only_objects: bool = True) -> list[Any]:
    children = parent.get(key) or []
    if not isinstance(children, list):
        raise Malformed(f"{key} is not a list")
    if only_objects and not all(isinstance(child, dict) for child in children):
        raise Malformed(f"{key} holds something that is not an object")
    return children


def _text(parent: Json, key: str) -> str:
    value = parent.get(key)
    return value if isinstance(value, str) else ""


def _readable_attributes(owner: Json) -> list[dict[str, Any]]:
    """The readable attributes of a resource or scope; counts the others."""
    attributes = owner.get("attributes")
    readable = []
    for attribute in attributes if isinstance(attributes, list) else []:
        try:
            readable.append(_attribute(attribute, 1))
        except (TypeError, ValueError, AttributeError):
            IGNORED.labels(kind="resource_attribute").inc()
    return readable


def _resource(resource: Json) -> Resource:
    attributes: Any = _readable_attributes(resource)
    return Resource(attributes=attributes)


def _scope(scope: Json) -> InstrumentationScope:
    attributes: Any = _readable_attributes(scope)
    name, version = _text(scope, "name"), _text(scope, "version")
    return InstrumentationScope(name=name, version=version, attributes=attributes)


def _span(span: Json, nesting: int) -> dict[str, Any]:
    return {
        "trace_id": _id(span.get("traceId"), 16),
        "span_id": _id(span.get("spanId"), 8),
        "trace_state": span.get("traceState") or "",
        "parent_span_id": _id(span.get("parentSpanId"), 8),
        "flags": _unsigned(span.get("flags")),
        "name": span.get("name") or "",
        "kind": span.get("kind") or 0,
        "start_time_unix_nano": _unsigned(span.get("startTimeUnixNano")),
        "end_time_unix_nano": _unsigned(span.get("endTimeUnixNano")),
        "attributes": _attributes(span, nesting),
        "dropped_attributes_count": _unsigned(span.get("droppedAttributesCount")),
        "events": [_event(event, nesting) for event in span.get("events") or ()],
        "dropped_events_count": _unsigned(span.get("droppedEventsCount")),
        "links": [_link(link, nesting) for link in span.get("links") or ()],
        "dropped_links_count": _unsigned(span.get("droppedLinksCount")),
        "status": _status(span.get("status")),
    }


def _status(status: Json | None) -> dict[str, Any] | None:
    """None if it was not sent: an unset message differs from an empty one."""
    if status is None:
        return None
    return {"message": status.get("message") or "", "code": status.get("code") or 0}


def _event(event: Json, nesting: int) -> dict[str, Any]:
    return {
        "time_unix_nano": _unsigned(event.get("timeUnixNano")),
        "name": event.get("name") or "",
        "attributes": _attributes(event, nesting),
        "dropped_attributes_count": _unsigned(event.get("droppedAttributesCount")),
    }


def _link(link: Json, nesting: int) -> dict[str, Any]:
    return {
        "trace_id": _id(link.get("traceId"), 16),
        "span_id": _id(link.get("spanId"), 8),
        "trace_state": link.get("traceState") or "",
        "attributes": _attributes(link, nesting),
        "dropped_attributes_count": _unsigned(link.get("droppedAttributesCount")),
        "flags": _unsigned(link.get("flags")),
    }


def _log(log: Json, nesting: int) -> dict[str, Any]:
    return {
        "time_unix_nano": _unsigned(log.get("timeUnixNano")),
        "observed_time_unix_nano": _unsigned(log.get("observedTimeUnixNano")),
        "severity_number": log.get("severityNumber") or 0,
        "severity_text": log.get("severityText") or "",
        "body": None if log.get("body") is None else _any(log["body"], nesting),
        "attributes": _attributes(log, nesting),
        "dropped_attributes_count": _unsigned(log.get("droppedAttributesCount")),
        "flags": _unsigned(log.get("flags")),
        "trace_id": _id(log.get("traceId"), 16),
        "span_id": _id(log.get("spanId"), 8),
        "event_name": log.get("eventName") or "",
    }


ITEMS: dict[str, Callable[[Json, int], dict[str, Any]]] = {"spans": _span, "log_records": _log}


def _attributes(owner: Json, nesting: int) -> list[dict[str, Any]]:
    return [_attribute(attribute, nesting) for attribute in owner.get("attributes") or ()]


def _attribute(attribute: Json, nesting: int) -> dict[str, Any]:
    value = attribute.get("value")
    return {
        "key": attribute.get("key") or "",
        "value": None if value is None else _any(value, nesting),
    }


def _any(variants: Json | None, nesting: int) -> dict[str, Any]:
    """An AnyValue; an empty one is legal, and so is a variant that this version does not know."""
    for variant, value in (variants or {}).items():
        if variant in VARIANTS and value is not None:
            return VARIANTS[variant](value, nesting)
    return {}


def _int(value: Any, _: int) -> dict[str, Any]:
    """An integer; beyond 64 bits it is kept as text."""
    number = _whole(value)
    return {"int_value": number} if number in INT64 else {"string_value": str(value)}


def _double(value: Any, _: int) -> dict[str, Any]:
    try:
        return {"double_value": float(value)}
    except OverflowError:
        return {"string_value": str(value)}


def _array(value: Json, nesting: int) -> dict[str, Any]:
    if nesting == 0:
        raise TooDeep
    return {"array_value": {"values": [_any(v, nesting - 1) for v in value.get("values") or ()]}}


def _map(value: Json, nesting: int) -> dict[str, Any]:
    if nesting == 0:
        raise TooDeep
    pairs = [_attribute(pair, nesting - 1) for pair in value.get("values") or ()]
    return {"kvlist_value": {"values": pairs}}


VARIANTS: dict[str, Callable[[Any, int], dict[str, Any]]] = {
    "stringValue": lambda value, _: {"string_value": value},
    "intValue": _int,
    "doubleValue": _double,
    "boolValue": lambda value, _: {"bool_value": value},
    "arrayValue": _array,
    "kvlistValue": _map,
    "bytesValue": lambda value, _: {"bytes_value": _base64(value)},
}


def _whole(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise TypeError(f"{value} is not an integer")
    return int(value)


def _unsigned(value: Any) -> int:
    return _whole(value) if value else 0


def _base64(text: str) -> bytes:
    standard = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def _id(text: Any, size: int) -> bytes:
    if not text:
        return b""
    if isinstance(text, list):  # a list of byte values
        return bytes(text)
    try:
        if len(text) == 2 * size:
            return bytes.fromhex(text)
        if len(text) == 4 * -(-size // 3):  # base64 of `size` bytes, with padding
            BASE64_IDS.inc()
            return _base64(text)
    except (binascii.Error, ValueError) as error:
        raise InvalidId from error
    raise InvalidId


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
