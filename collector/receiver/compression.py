"""Decodes HTTP content codings piece by piece, so that a zip bomb never fills the memory."""

from __future__ import annotations

import asyncio
import zlib

from collector.receiver.budget import Hold
from collector.refusal import Malformed, Refusal, Refused, TooLarge

PIECE_BYTES = 1 << 20
GZIP, ZLIB, RAW_DEFLATE = 31, 15, -15


async def decompress(body: bytes, coding: str, *, limit: int, hold: Hold) -> bytes:
    """Decodes the content coding of `body` (gzip, deflate, identity).

    Counts every piece in the byte budget before it makes the next. Raises TooLarge beyond
    `limit` bytes, Malformed on a broken stream, Refused (MEDIA_TYPE) on another coding.
    """
    coding = coding.strip().lower()
    if coding in ("", "identity"):
        return body
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise Refused(Refusal.MEDIA_TYPE, "content-encoding must be gzip, deflate or identity")
    if not body:
        return body
    try:
        return await _inflate(body, _window(body, coding), limit, hold)
    except zlib.error as error:
        raise Malformed(f"the body is not {coding}: {error}") from error


def _window(body: bytes, coding: str) -> int:
    """The zlib window for a coding. `deflate` means zlib, but some clients send the raw stream."""
    if coding != "deflate":
        return GZIP
    has_header = body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    return ZLIB if has_header else RAW_DEFLATE


async def _inflate(body: bytes, window: int, limit: int, hold: Hold) -> bytes:
    pieces: list[bytes] = []
    total, rest, stream = 0, body, zlib.decompressobj(window)
    while rest or not stream.eof:
        piece = stream.decompress(rest, PIECE_BYTES)
        rest = stream.unconsumed_tail
        total += len(piece)
        if total > limit:
            raise TooLarge(f"the body is larger than {limit} bytes after decompression")
        hold.grow(len(piece))
        pieces.append(piece)
        if stream.eof and stream.unused_data:  # gzip allows several members in a row
            rest, stream = stream.unused_data, zlib.decompressobj(window)
        elif not piece and not rest and not stream.eof:
            raise Malformed("the compressed body ends early")
        await asyncio.sleep(0)  # lets other requests run between two pieces
    return b"".join(pieces)
