"""Salvages the readable spans of a request that the protobuf parser refuses as a whole.

A single string that is not UTF-8 makes the parser refuse the whole request. This module walks the
framing down to the spans (resources at field 1, scopes at field 2, items at field 2, the same in
all signals) and parses each alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from collector.decode.shape import Shape
from collector.decode.wire import LENGTH, BrokenWire, fields
from collector.metrics import IGNORED
from collector.refusal import Malformed, Rejection

CONTAINER = 1
OWNER, CHILD, SCHEMA_URL = 1, 2, 3
RESOURCE_ATTRIBUTES, SCOPE_ATTRIBUTES = 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvagedRequest:
    """What could be read, and how many items could not, by reason.

    `is_body`: the request corresponds to the body byte for byte, so the body can be stored as is.
    `unknown`: fields of the request, in JSON, that OTLP does not have.
    """

    request: Message
    is_body: bool = False
    rejected: Counter[Rejection] = field(default_factory=Counter)
    unknown: tuple[str, ...] = ()


def salvage(body: bytes, shape: Shape) -> SalvagedRequest:
    """Parses a request item by item; raises Malformed if its framing or every item is broken."""
    saved = SalvagedRequest(request=shape.request())
    try:
        for number, kind, start, end in fields(body, 0, len(body)):
            if number == CONTAINER and kind == LENGTH:
                _container(body, start, end, shape, saved)
    except BrokenWire as error:
        raise Malformed(f"the body is not a protobuf {shape.name} request: {error}") from error
    if not shape.count(saved.request) and saved.rejected[Rejection.UNREADABLE]:
        raise Malformed(f"the body is not a protobuf {shape.name} request")
    return saved


def count_items(body: bytes, shape: Shape) -> int:
    """Counts the items of a body without parsing: parsed, tiny items take far more memory."""
    try:
        return sum(
            1
            for _, _, start, end in _children(body, 0, len(body), CONTAINER)
            for _, _, inner, stop in _children(body, start, end, CHILD)
            for _ in _children(body, inner, stop, CHILD)
        )
    except BrokenWire as error:
        raise Malformed(f"the body is not a protobuf {shape.name} request: {error}") from error


def _children(body: bytes, start: int, end: int, number: int) -> list[tuple[int, int, int, int]]:
    return [field_ for field_ in fields(body, start, end) if field_[:2] == (number, LENGTH)]


def _container(body: bytes, start: int, end: int, shape: Shape, saved: SalvagedRequest) -> None:
    container = shape.containers(saved.request).add()
    for number, kind, inner, stop in fields(body, start, end):
        if kind != LENGTH:
            continue
        if number == OWNER:
            # Merged, as protobuf does with a message that occurs twice.
            container.resource.MergeFrom(_resource(body, inner, stop))
        elif number == CHILD:
            _scoped(body, inner, stop, shape, container, saved)
        elif number == SCHEMA_URL:
            container.schema_url = body[inner:stop].decode("utf-8", "replace")


def _scoped(
    body: bytes, start: int, end: int, shape: Shape, container: Message, saved: SalvagedRequest
) -> None:
    scoped = shape.scopes(container).add()
    items = shape.items(scoped)
    for number, kind, inner, stop in fields(body, start, end):
        if kind != LENGTH:
            continue
        if number == OWNER:
            scoped.scope.MergeFrom(_scope(body[inner:stop]))
        elif number == CHILD:
            try:
                items.append(shape.item.FromString(body[inner:stop]))
            except DecodeError as error:
                saved.rejected[_reason(error)] += 1
        elif number == SCHEMA_URL:
            scoped.schema_url = body[inner:stop].decode("utf-8", "replace")


def _reason(error: DecodeError) -> Rejection:
    """The reason, from the parser's message: it has no error codes."""
    text = str(error)
    if "UTF-8" in text:
        return Rejection.INVALID_UTF8
    return Rejection.TOO_DEEP if "Depth" in text else Rejection.UNREADABLE


def _resource(body: bytes, start: int, end: int) -> Resource:
    """A resource; if it cannot be read as a whole, with its readable attributes only.

    Its spans may be valid: a bad attribute of the resource must not reject them.
    """
    resource = Resource()
    try:
        resource.ParseFromString(body[start:end])
    except DecodeError:
        resource.Clear()
    else:
        return resource
    for _, _, inner, stop in _children(body, start, end, RESOURCE_ATTRIBUTES):
        try:
            resource.attributes.append(KeyValue.FromString(body[inner:stop]))
        except DecodeError:
            IGNORED.labels(kind="resource_attribute").inc()
    return resource


def _scope(body: bytes) -> InstrumentationScope:
    """A scope; an empty one if it cannot be read."""
    scope = InstrumentationScope()
    try:
        scope.ParseFromString(body)
    except DecodeError:
        scope.Clear()
        IGNORED.labels(kind="scope").inc()
    return scope
