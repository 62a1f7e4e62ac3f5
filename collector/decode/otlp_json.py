"""OTLP/JSON to protobuf messages, by hand: `json_format` reads ids as base64 and is 20 x slower.

Ids are hex in either case; base64 ids of encoders that follow proto3 JSON are known by their
length, taken and counted. 64-bit integers come as strings or numbers, NaN and infinities as
strings. Unknown fields are ignored. A span with a wrong field costs that span.
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

from collector.decode.salvage import Salvaged
from collector.decode.shape import Shape
from collector.metrics import BASE64_IDS, IGNORED
from collector.refusal import Malformed, Rejection

Json = Mapping[str, Any]
# A character that no text holds marks where bytes were not UTF-8.
BROKEN = "\ufdd0"
SURROGATE_PASS = "surrogatepass"
INT64 = range(-(1 << 63), 1 << 63)


class TooDeep(ValueError):
    """Lists and maps are nested in one another too often."""


class InvalidId(ValueError):
    """An id that is neither hex nor base64 of its length."""


codecs.register_error("mark-broken", lambda error: (BROKEN, getattr(error, "end", 0)))


def read_json(body: bytes, shape: Shape, max_nesting: int) -> Salvaged:
    """The protobuf request that a JSON body says; raises Malformed where it says none."""
    saved = Salvaged(request=shape.request())
    if not body:
        return saved
    document, is_broken = _load(body)
    reader = ITEMS[shape.item_field]
    for container in _objects(document, _camel(shape.container_field)):
        read = shape.containers(saved.request).add(schema_url=_text(container, "schemaUrl"))
        if isinstance(container.get("resource"), dict):
            read.resource.MergeFrom(_resource(container["resource"]))
        for scoped in _objects(container, _camel(shape.scope_field)):
            kept = shape.scopes(read).add(schema_url=_text(scoped, "schemaUrl"))
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


def _reason(error: Exception) -> Rejection:
    if isinstance(error, TooDeep):
        return Rejection.TOO_DEEP
    return Rejection.INVALID_ID if isinstance(error, InvalidId) else Rejection.UNREADABLE


def _load(body: bytes) -> tuple[Json, bool]:
    """The document, and whether bytes in it were not UTF-8 (marked by BROKEN)."""
    try:
        document, is_broken = orjson.loads(body), False
    except orjson.JSONDecodeError:
        document, is_broken = _load_leniently(body)
    if not isinstance(document, dict):
        raise Malformed("the body is not a JSON object")
    return document, is_broken


def _load_leniently(body: bytes) -> tuple[Any, bool]:
    """Also takes bare NaN, lone surrogates (as U+FFFD) and bytes that are not UTF-8."""
    text = body.decode("utf-8", "mark-broken").removeprefix("\ufeff")
    try:
        document = json.loads(text)
        whole = json.dumps(document, ensure_ascii=False)
        mended = whole.encode("utf-16", SURROGATE_PASS).decode("utf-16", "replace")
        return (document if mended == whole else json.loads(mended)), BROKEN in mended
    except (ValueError, RecursionError) as error:
        raise Malformed(f"the body is not JSON: {str(error)[:200]}") from error


def _objects(parent: Json, key: str, *, only_objects: bool = True) -> list[Any]:
    found = parent.get(key) or []
    if not isinstance(found, list):
        raise Malformed(f"{key} is not a list")
    if only_objects and not all(isinstance(child, dict) for child in found):
        raise Malformed(f"{key} holds something that is not an object")
    return found


def _text(parent: Json, key: str) -> str:
    found = parent.get(key)
    return found if isinstance(found, str) else ""


def _readable_attributes(owner: Json) -> list[dict[str, Any]]:
    """Attributes of a resource or scope; those that cannot be read cost nothing but themselves."""
    given = owner.get("attributes")
    read = []
    for attribute in given if isinstance(given, list) else []:
        try:
            read.append(_attribute(attribute, 1))
        except (TypeError, ValueError, AttributeError):
            IGNORED.labels(kind="resource_attribute").inc()
    return read


def _resource(given: Json) -> Resource:
    attributes: Any = _readable_attributes(given)
    return Resource(attributes=attributes)


def _scope(given: Json) -> InstrumentationScope:
    attributes: Any = _readable_attributes(given)
    name, version = _text(given, "name"), _text(given, "version")
    return InstrumentationScope(name=name, version=version, attributes=attributes)


def _span(given: Json, nesting: int) -> dict[str, Any]:
    return {
        "trace_id": _id(given.get("traceId"), 16),
        "span_id": _id(given.get("spanId"), 8),
        "trace_state": given.get("traceState") or "",
        "parent_span_id": _id(given.get("parentSpanId"), 8),
        "flags": _unsigned(given.get("flags")),
        "name": given.get("name") or "",
        "kind": given.get("kind") or 0,
        "start_time_unix_nano": _unsigned(given.get("startTimeUnixNano")),
        "end_time_unix_nano": _unsigned(given.get("endTimeUnixNano")),
        "attributes": _attributes(given, nesting),
        "dropped_attributes_count": _unsigned(given.get("droppedAttributesCount")),
        "events": [_event(event, nesting) for event in given.get("events") or ()],
        "dropped_events_count": _unsigned(given.get("droppedEventsCount")),
        "links": [_link(link, nesting) for link in given.get("links") or ()],
        "dropped_links_count": _unsigned(given.get("droppedLinksCount")),
        "status": _status(given.get("status")),
    }


def _status(given: Json | None) -> dict[str, Any] | None:
    """None where it is not sent: an unset message is not an empty one."""
    if given is None:
        return None
    return {"message": given.get("message") or "", "code": given.get("code") or 0}


def _event(given: Json, nesting: int) -> dict[str, Any]:
    return {
        "time_unix_nano": _unsigned(given.get("timeUnixNano")),
        "name": given.get("name") or "",
        "attributes": _attributes(given, nesting),
        "dropped_attributes_count": _unsigned(given.get("droppedAttributesCount")),
    }


def _link(given: Json, nesting: int) -> dict[str, Any]:
    return {
        "trace_id": _id(given.get("traceId"), 16),
        "span_id": _id(given.get("spanId"), 8),
        "trace_state": given.get("traceState") or "",
        "attributes": _attributes(given, nesting),
        "dropped_attributes_count": _unsigned(given.get("droppedAttributesCount")),
        "flags": _unsigned(given.get("flags")),
    }


def _log(given: Json, nesting: int) -> dict[str, Any]:
    return {
        "time_unix_nano": _unsigned(given.get("timeUnixNano")),
        "observed_time_unix_nano": _unsigned(given.get("observedTimeUnixNano")),
        "severity_number": given.get("severityNumber") or 0,
        "severity_text": given.get("severityText") or "",
        "body": None if given.get("body") is None else _any(given["body"], nesting),
        "attributes": _attributes(given, nesting),
        "dropped_attributes_count": _unsigned(given.get("droppedAttributesCount")),
        "flags": _unsigned(given.get("flags")),
        "trace_id": _id(given.get("traceId"), 16),
        "span_id": _id(given.get("spanId"), 8),
        "event_name": given.get("eventName") or "",
    }


ITEMS: dict[str, Callable[[Json, int], dict[str, Any]]] = {"spans": _span, "log_records": _log}


def _attributes(given: Json, nesting: int) -> list[dict[str, Any]]:
    return [_attribute(attribute, nesting) for attribute in given.get("attributes") or ()]


def _attribute(given: Json, nesting: int) -> dict[str, Any]:
    value = given.get("value")
    return {
        "key": given.get("key") or "",
        "value": None if value is None else _any(value, nesting),
    }


def _any(given: Json | None, nesting: int) -> dict[str, Any]:
    """An AnyValue; empty is legal, and so is a variant that this version does not know."""
    for variant, value in (given or {}).items():
        if variant in VARIANTS and value is not None:
            return VARIANTS[variant](value, nesting)
    return {}


def _int(value: Any, _: int) -> dict[str, Any]:
    """An integer; one beyond 64 bits stays readable, as text."""
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


def _id(given: Any, size: int) -> bytes:
    if not given:
        return b""
    if isinstance(given, list):
        return bytes(given)
    try:
        if len(given) == 2 * size:
            return bytes.fromhex(given)
        if len(given) == 4 * -(-size // 3):
            BASE64_IDS.inc()
            return _base64(given)
    except (binascii.Error, ValueError) as error:
        raise InvalidId from error
    raise InvalidId


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
