"""Reads one segment through an index from seq to offset, which grows with the file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from collector.spool.directory import HIGHEST_SEQ, FrameGone, SegmentName
from collector.spool.files import Files, ReadFile
from collector.spool.frames import HEADER_SIZE, Frame, parse, parse_body, parse_header
from collector.spool.scan import Range, scan

OPENING_SIZE = HEADER_SIZE + 8
_READ_AHEAD = 32 << 10
_MISSING = -1
_LONGEST_GAP = 1 << 20
"""Refused groups leave gaps between seqs; a longer one is a segment under a wrong name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """How far a segment may be read: the last seq, and the offset behind it if known."""

    last_seq: int = HIGHEST_SEQ
    end: int | None = None


class Segment:
    """A segment as a reader sees it. Opens its file at the first use; `release` closes it."""

    def __init__(self, files: Files, directory: Path, name: SegmentName) -> None:
        self.name = name
        self.damaged = 0
        self._files = files
        self._path = directory / str(name)
        self._source: ReadFile | None = None
        self._offsets = array("q")  # by seq - first_seq
        self._scanned = 0

    def frames(self, from_seq: int, bound: Bound) -> Iterator[Frame]:
        """Frames from `from_seq` on within `bound`, in order.

        Damaged ranges are skipped and counted in `damaged`. Raises FrameGone, OSError.
        """
        for seq in range(max(from_seq, self.name.first_seq), self._next_unseen()):
            if seq > bound.last_seq:
                return
            if frame := self._read(self._offset(seq)):
                yield frame
        yield from (frame for frame in self._extend(bound) if frame.seq >= from_seq)

    def get(self, seq: int, bound: Bound) -> Frame:
        """The frame `seq`. Raises FrameGone, OSError."""
        if seq > bound.last_seq:
            raise FrameGone(f"frame {seq} is not durable")
        if seq >= self._next_unseen():
            for unseen in self._extend(bound):
                if unseen.seq == seq:
                    return unseen
        frame = self._read(self._offset(seq))
        if frame is None:
            raise FrameGone(f"frame {seq} is damaged or not in {self.name}")
        return frame

    def opening(self) -> Frame | None:
        """The frame that opens the segment; None if it is damaged. Raises like `get`."""
        frame = parse(self._opened().read_at(0, OPENING_SIZE), self.name.salt)
        return frame if frame and frame.signal is None else None

    def release(self) -> None:
        """Closes the file; the next use opens it again."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def _extend(self, bound: Bound) -> Iterator[Frame]:
        """Yields frames beyond the index and indexes them; the caller may stop at any of them."""
        source = self._opened()
        size = source.size()
        end = size if bound.end is None else min(bound.end, size)
        for part in scan(source, self.name.salt, self._scanned, end):
            if part.frame and part.frame.seq > bound.last_seq:
                return
            self._scanned = part.end
            if self._note(part) and part.frame and part.frame.signal:
                yield part.frame

    def _note(self, part: Range) -> bool:
        """Adds a frame to the index; False for a damaged range and for a seq out of order."""
        missing = part.frame.seq - self._next_unseen() if part.frame else _MISSING
        if not 0 <= missing <= _LONGEST_GAP:
            self.damaged += 1
            return False
        self._offsets.extend([_MISSING] * missing)
        self._offsets.append(part.start if part.frame and part.frame.signal else _MISSING)
        return True

    def _next_unseen(self) -> int:
        return self.name.first_seq + len(self._offsets)

    def _offset(self, seq: int) -> int:
        at = seq - self.name.first_seq
        return self._offsets[at] if 0 <= at < len(self._offsets) else _MISSING

    def _read(self, offset: int) -> Frame | None:
        """The frame at `offset`; None if there is none or the disk has damaged it since."""
        if offset == _MISSING:
            return None
        source, salt = self._opened(), self.name.salt
        data = source.read_at(offset, _READ_AHEAD)
        header = parse_header(data, salt)
        if header and header.size > len(data):
            data = source.read_at(offset, header.size)
        return parse_body(header, data, salt) if header else None

    def _opened(self) -> ReadFile:
        if self._source is None:
            try:
                self._source = self._files.open(self._path)
            except FileNotFoundError as error:
                raise FrameGone(f"{self.name} was dropped") from error
        return self._source
