"""Walks through a segment's bytes: every frame and every damaged range, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector.spool.files import ReadFile
from collector.spool.frames import HEADER_SIZE, MAGIC, Frame, parse_body, parse_header

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A range of bytes: a frame, or a damaged range (`frame` is None)."""

    start: int
    end: int
    frame: Frame | None = None


def scan(source: ReadFile, salt: int, start: int, end: int) -> Iterator[Range]:
    """Every frame and every damaged range between two offsets, without a hole.

    After a damaged header it searches for the next valid header. After a damaged body it goes on
    behind the body, because the header and so the length is right.
    """
    window = _Window(source, end)
    offset = start
    while offset < end:
        header = parse_header(window.at(offset, HEADER_SIZE), salt)
        frame = parse_body(header, window.at(offset, header.size), salt) if header else None
        following = offset + header.size if header else offset + 1
        if not frame:
            following = _next_header(window, salt, min(following, end))
        yield Range(start=offset, end=following, frame=frame)
        offset = following


def _next_header(window: _Window, salt: int, offset: int) -> int:
    """The offset of the first valid header from `offset` on, else the end."""
    while len(chunk := window.at(offset, _CHUNK)) >= HEADER_SIZE:
        at = chunk.find(MAGIC)
        if at < 0:
            # The magic may straddle two chunks.
            offset += len(chunk) - len(MAGIC) + 1
            continue
        offset += at
        if parse_header(window.at(offset, HEADER_SIZE), salt):
            return offset
        offset += 1
    return window.end


class _Window:
    """Reads a file in chunks, so that neighbouring small frames cost one system call."""

    def __init__(self, source: ReadFile, end: int) -> None:
        self._source = source
        self._start = 0
        self._chunk = b""
        self.end = end

    def at(self, offset: int, size: int) -> bytes:
        """`size` bytes from `offset`, fewer only at the end."""
        size = min(size, self.end - offset)
        begin = offset - self._start
        if begin < 0 or begin + size > len(self._chunk):
            read_size = min(max(size, _CHUNK), self.end - offset)
            self._chunk = self._source.read_at(offset, read_size)
            self._start, begin = offset, 0
        return self._chunk[begin : begin + size]
