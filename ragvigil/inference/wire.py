"""What parent and child say to one another: a JSON head, then numbers as they lie in memory.

A frame is the lengths of both (4 and 4 bytes, big-endian), the head, and the body: little-endian
32-bit floats. Nothing in it is ever executed, as pickled objects would be.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

LENGTHS = struct.Struct(">II")
MOST_BYTES = 256 << 20
"""No frame is longer: a peer that announces more is broken."""

Read = Callable[[int], bytes]
"""Reads exactly so many bytes, or raises."""


class BadFrame(ValueError):
    """The bytes are no frame."""


def pack(head: Mapping[str, object], body: bytes = b"") -> bytes:
    """The bytes of a frame. Raises BadFrame where it is too long."""
    written = json.dumps(head).encode("ascii")
    if max(len(written), len(body)) > MOST_BYTES:
        raise BadFrame(f"a frame of {len(written)} and {len(body)} bytes is too long")
    return LENGTHS.pack(len(written), len(body)) + written + body


def unpack(read: Read) -> tuple[dict[str, Any], bytes]:
    """The next frame. Raises BadFrame, and whatever `read` raises."""
    lengths = LENGTHS.unpack(read(LENGTHS.size))
    if max(lengths) > MOST_BYTES:
        raise BadFrame(f"a frame of {lengths[0]} and {lengths[1]} bytes is too long")
    try:
        head = json.loads(read(lengths[0]))
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"the head is not JSON: {error}") from error
    if not isinstance(head, dict):
        raise BadFrame("the head is not an object")
    return head, read(lengths[1])
