"""Parses OTLP requests, salvages what it can of malformed ones, and checks every item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from google.protobuf.message import DecodeError

from collector.decode.otlp_json import read_json
from collector.decode.salvage import SalvagedRequest, count_items, salvage
from collector.decode.shape import SHAPES, Shape
from collector.metrics import IGNORED
from collector.redaction.expression import compile_bytes
from collector.refusal import Rejection, TooLarge
from collector.settings import LimitSettings
from ragvigil.model.span import Signal

TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8
NO_TRACE_ID, NO_SPAN_ID = bytes(TRACE_ID_BYTES), bytes(SPAN_ID_BYTES)
# Below this, even a body of empty spans only takes a few megabytes once parsed.
SMALL_BODY_BYTES = 256 << 10

# Matches any value that is a list or map, without parsing: the tag of a value, its length, the tag
# of a list or map, its length, the tag of its first child.
_LENGTH = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
CONTAINER = compile_bytes(rb"[\x0a\x12]" + _LENGTH + rb"[\x2a\x32]" + _LENGTH + rb"\x0a")


class Encoding(Enum):
    """The encoding of a request's body."""

    PROTOBUF = "protobuf"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedRequest:
    """A request with `items` valid items, and the number of rejected ones by reason.

    `body` is the request in protobuf exactly as it arrived; None if it was changed or was JSON.
    `hint` says what is wrong with a request in which nothing was read.
    """

    request: Any
    items: int
    rejected: Counter[Rejection] = field(default_factory=Counter)
    body: bytes | None = None
    hint: str = ""

    @property
    def message(self) -> str:
        """The message to the client about rejected items and unknown fields; empty without any."""
        rejected = [f"{count} {WORDS[reason]}" for reason, count in self.rejected.items()]
        return ", ".join([*rejected, self.hint] if self.hint else rejected)

    def payload(self) -> bytes:
        """The request in protobuf; not serialised again if nothing was changed."""
        return self.request.SerializeToString() if self.body is None else self.body


WORDS = {
    Rejection.INVALID_UTF8: "with text that is not UTF-8",
    Rejection.INVALID_ID: "with an id that is zero or of wrong length",
    Rejection.TOO_DEEP: "with values nested too deep",
    Rejection.UNREADABLE: "with a field that cannot be read",
}


def decode(
    body: bytes, encoding: Encoding, signal: Signal, limits: LimitSettings
) -> DecodedRequest:
    """Parses the request in `body` and takes out its invalid items.

    Raises Malformed if it is no OTLP request, TooLarge if it has too many items.
    """
    shape = SHAPES[signal]
    read = _read(body, encoding, shape, limits)
    items = shape.count(read.request) + read.rejected.total()
    _require_few(items, limits)
    nesting = limits.max_nesting if _may_nest(body, encoding) else None
    rejected = read.rejected + _reject(read.request, shape, nesting)
    unbound = _drop_unbound(read.request) if signal is Signal.LOGS else 0
    kept = items - rejected.total() - unbound
    is_same = read.is_body and not (rejected or unbound)
    return DecodedRequest(
        request=read.request,
        items=kept,
        rejected=rejected,
        body=body if is_same else None,
        hint=_hint(read.unknown, shape) if not items else "",
    )


def _hint(unknown: tuple[str, ...], shape: Shape) -> str:
    """What to tell the sender of a request whose fields are all unknown; empty without fields."""
    named = ", ".join(unknown)[:100]
    return f"nothing was read: {named} is no field of a {shape.name} request" if unknown else ""


def _read(body: bytes, encoding: Encoding, shape: Shape, limits: LimitSettings) -> SalvagedRequest:
    if encoding is Encoding.JSON:
        return read_json(body, shape, limits.max_nesting)
    if len(body) > SMALL_BODY_BYTES:
        _require_few(count_items(body, shape), limits)
    try:
        return SalvagedRequest(request=shape.request.FromString(body), is_body=True)
    except DecodeError:
        return salvage(body, shape)


def _require_few(items: int, limits: LimitSettings) -> None:
    if items > limits.max_items:
        raise TooLarge(f"{items} items in one request; {limits.max_items} are allowed")


def _may_nest(body: bytes, encoding: Encoding) -> bool:
    """Whether values may be nested too deep. JSON is checked while it is read."""
    return encoding is Encoding.PROTOBUF and CONTAINER.search(body) is not None


def _reject(request: Any, shape: Shape, max_nesting: int | None) -> Counter[Rejection]:
    """Takes out every invalid item; returns how many, by reason.

    `max_nesting` is None if no value can be nested.
    """
    rejected: Counter[Rejection] = Counter()
    check = _span_fault if shape is SHAPES[Signal.TRACES] else _log_fault
    for items in shape.lists(request):
        faults = [(place, check(item, max_nesting)) for place, item in enumerate(items)]
        for place, fault in reversed(faults):  # from the end: deleting shifts what follows
            if fault is not None:
                del items[place]
                rejected[fault] += 1
    return rejected


def _span_fault(span: Any, max_nesting: int | None) -> Rejection | None:
    if not _is_id(span.trace_id, NO_TRACE_ID) or not _is_id(span.span_id, NO_SPAN_ID):
        return Rejection.INVALID_ID
    if max_nesting is None:
        return None
    if _is_deep(span.attributes, max_nesting):
        return Rejection.TOO_DEEP
    for part in (*span.events, *span.links):
        if _is_deep(part.attributes, max_nesting):
            return Rejection.TOO_DEEP
    return None


def _log_fault(log: Any, max_nesting: int | None) -> Rejection | None:
    """A log record may lack ids, but an id must have the right length."""
    if len(log.trace_id) not in (0, TRACE_ID_BYTES) or len(log.span_id) not in (0, SPAN_ID_BYTES):
        return Rejection.INVALID_ID
    if max_nesting is None:
        return None
    is_deep = _is_deep(log.attributes, max_nesting) or _is_deeper(log.body, max_nesting)
    return Rejection.TOO_DEEP if is_deep else None


def _is_id(value: bytes, zero: bytes) -> bool:
    return len(value) == len(zero) and value != zero


def _is_deep(attributes: Iterable[Any], limit: int) -> bool:
    return any(_is_deeper(attribute.value, limit) for attribute in attributes)


def _is_deeper(value: Any, limit: int) -> bool:
    """Whether lists and maps are nested in one another more than `limit` times."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        children = value.array_value.values
    elif kind == "kvlist_value":
        children = [pair.value for pair in value.kvlist_value.values]
    else:
        return False
    return limit == 0 or any(_is_deeper(child, limit - 1) for child in children)


def _drop_unbound(request: Any) -> int:
    """Takes out log records without a trace id: they can never be joined to a span."""
    dropped = 0
    for items in SHAPES[Signal.LOGS].lists(request):
        for place in reversed(range(len(items))):
            if items[place].trace_id in (b"", NO_TRACE_ID):
                del items[place]
                dropped += 1
    if dropped:
        IGNORED.labels(kind="log_of_no_trace").inc(dropped)
    return dropped
