"""The part of the protobuf wire format that walking a message without parsing it needs."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
MAX_VARINT_BYTES = 10


class BrokenWire(ValueError):
    """The bytes end early, or are not a valid message."""


def fields(body: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields number, wire type, start and end of the value of each field in `body[start:end]`.

    Raises BrokenWire if the framing is invalid.
    """
    while start < end:
        tag, start = varint(body, start, end)
        number, kind = tag >> 3, tag & 7
        if kind == LENGTH:
            size, start = varint(body, start, end)
        elif kind == VARINT:
            _, after = varint(body, start, end)
            size = after - start
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise BrokenWire(f"wire type {kind} is not used by OTLP")
        if number == 0 or size > end - start:
            raise BrokenWire("a field is longer than what holds it")
        yield number, kind, start, start + size
        start += size


def varint(body: bytes, start: int, end: int) -> tuple[int, int]:
    """Reads the varint at `start`; returns its value and the offset behind it."""
    value = shift = 0
    for place in range(start, min(end, start + MAX_VARINT_BYTES)):
        byte = body[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise BrokenWire("a number does not end")
