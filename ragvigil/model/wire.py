"""Frames between a process and its children: a JSON head and a body of bytes.

A frame is the lengths of both (4 and 4 bytes, big-endian), the head, and the body. Nothing in it
is ever executed, as pickled objects would be. The intake and the core send questions and
answers; the core and the model process send texts and numbers.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

if TYPE_CHECKING:
    from asyncio import StreamReader

LENGTHS = struct.Struct(">II")
MOST_BYTES = 256 << 20
"""No frame is longer: a peer that announces more is broken."""

Frame: TypeAlias = tuple[dict[str, Any], bytes]
Read: TypeAlias = Callable[[int], bytes]
"""Reads exactly this many bytes, or raises."""


class BadFrame(ValueError):
    """The bytes are not a frame."""


def pack(head: Mapping[str, object], body: bytes = b"") -> bytes:
    """The bytes of a frame. Raises BadFrame if it is too long."""
    encoded = json.dumps(head).encode("ascii")
    _require_short(len(encoded), len(body))
    return LENGTHS.pack(len(encoded), len(body)) + encoded + body


def unpack(read: Read) -> Frame:
    """The next frame, head and body. Raises BadFrame, and whatever `read` raises."""
    head_bytes, body_bytes = _lengths(read(LENGTHS.size))
    return _head(read(head_bytes)), read(body_bytes)


async def unpack_from(reader: StreamReader) -> Frame:
    """The next frame of a stream. Raises BadFrame, and IncompleteReadError at its end."""
    head_bytes, body_bytes = _lengths(await reader.readexactly(LENGTHS.size))
    head = _head(await reader.readexactly(head_bytes))
    return head, await reader.readexactly(body_bytes)


def reader_of(stream: BinaryIO) -> Read:
    """A `Read` from a blocking stream; it raises EOFError at the end of the stream."""

    def read(count: int) -> bytes:
        block = stream.read(count)
        if len(block) < count:
            raise EOFError
        return block

    return read


def _lengths(block: bytes) -> tuple[int, int]:
    head_bytes, body_bytes = LENGTHS.unpack(block)
    # Checked before anything of that length is read or allocated.
    _require_short(head_bytes, body_bytes)
    return head_bytes, body_bytes


def _head(block: bytes) -> dict[str, Any]:
    try:
        head = json.loads(block)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"the head is not JSON: {error}") from error
    if not isinstance(head, dict):
        raise BadFrame("the head is not an object")
    return head


def _require_short(head_bytes: int, body_bytes: int) -> None:
    if max(head_bytes, body_bytes) > MOST_BYTES:
        raise BadFrame(f"a frame of {head_bytes} and {body_bytes} bytes is too long")
