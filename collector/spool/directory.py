"""The files of a spool directory: segments, the durable mark, checkpoints.

00000000000000000001-5f3a9c02.seg   a segment: its first seq and the salt of its checksums
durable.mark                        how far the segments are synced; shared memory
checkpoint-<consumer>               the last seq that a consumer is done with
quarantine/                         copies of damaged ranges
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from collector.spool.files import Files, ReadFile, SharedBytes, read_whole, write_durably

MARK_NAME = "durable.mark"
MARK_SIZE = 64
QUARANTINE = "quarantine"
HIGHEST_SEQ = 1 << 53
"""No seq lies above: JSON readers keep integers exact only up to here."""
_SEGMENT = re.compile(r"(\d{20})-([0-9a-f]{8})\.seg")
_CHECKPOINT = "checkpoint-"
_MARK = struct.Struct("<QQQQQ")
_CHECKSUM = struct.Struct("<I")


class SpoolError(OSError):
    """The spool could not write a frame."""


class SpoolFull(SpoolError):
    """The disk is full; appending works again as soon as space is free."""


class FrameGone(LookupError):
    """The frame was dropped, is damaged, or is not durable yet."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SegmentName:
    """A segment's file name."""

    first_seq: int
    salt: int

    def __str__(self) -> str:
        return f"{self.first_seq:020d}-{self.salt:08x}.seg"


def segment_names(entries: Iterable[str]) -> list[SegmentName]:
    """The segments among the names of a directory, oldest first; other names are left out."""
    matches = (_SEGMENT.fullmatch(name) for name in entries)
    names = [SegmentName(first_seq=int(m[1]), salt=int(m[2], 16)) for m in matches if m]
    return sorted(name for name in names if name.first_seq <= HIGHEST_SEQ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far the spool is durable: the last synced frame and where it ends.

    `spans` and `logs` count everything acknowledged until now. `segment` is the first seq of the
    segment being written, `end` the offset behind its last synced frame.
    """

    seq: int = 0
    spans: int = 0
    logs: int = 0
    segment: int = 0
    end: int = 0


def publish(shared: SharedBytes, mark: Mark) -> None:
    """Writes `mark` into the shared memory that the reading processes see."""
    body = _MARK.pack(mark.seq, mark.spans, mark.logs, mark.segment, mark.end)
    shared[: _MARK.size + _CHECKSUM.size] = body + _CHECKSUM.pack(zlib.crc32(body))


def published(shared: SharedBytes) -> Mark | None:
    """The mark; None while it is being written, or if it never was."""
    # A torn read shows as a wrong checksum, so that the two processes need no lock.
    data = bytes(shared[: _MARK.size + _CHECKSUM.size])
    body = data[: _MARK.size]
    if data[_MARK.size :] != _CHECKSUM.pack(zlib.crc32(body)):
        return None
    seq, spans, logs, segment, end = _MARK.unpack(body)
    return Mark(seq=seq, spans=spans, logs=logs, segment=segment, end=end)


def write_checkpoint(files: Files, directory: Path, consumer: str, seq: int) -> None:
    """Stores durably the last seq that `consumer` has finished."""
    text = str(seq)
    content = f"{text} {zlib.crc32(text.encode()):08x}\n"
    write_durably(files, directory / (_CHECKPOINT + consumer), content.encode())


def read_checkpoint(files: Files, directory: Path, consumer: str) -> int:
    """The stored checkpoint; 0 if there is none or it is damaged."""
    try:
        content = read_whole(files, directory / (_CHECKPOINT + consumer))
    except FileNotFoundError:
        return 0
    # A damaged checkpoint reads as none: everything still in the spool is read again.
    text, _, checksum = content.decode("ascii", "replace").strip().partition(" ")
    intact = text.isdecimal() and checksum == f"{zlib.crc32(text.encode()):08x}"
    return int(text) if intact else 0


def highest_checkpoint(files: Files, directory: Path, entries: Iterable[str]) -> int:
    """The highest seq that any consumer has finished."""
    consumers = (name.removeprefix(_CHECKPOINT) for name in entries if is_checkpoint(name))
    return max((read_checkpoint(files, directory, consumer) for consumer in consumers), default=0)


def is_checkpoint(name: str) -> bool:
    """Whether a file of this name holds a consumer's checkpoint."""
    return name.startswith(_CHECKPOINT) and not name.endswith(".draft")


def quarantine(
    files: Files, directory: Path, name: SegmentName, source: ReadFile, start: int, end: int
) -> bool:
    """Copies a damaged range to `quarantine/`; returns False if it is there already.

    Raises OSError if there is no room for a copy; the range stays in its segment then.
    """
    folder = directory / QUARANTINE
    target = folder / f"{name.first_seq:020d}-{name.salt:08x}-{start:010d}.bin"
    files.make_directory(folder)
    if target.name in files.entries(folder):
        return False
    write_durably(files, target, source.read_at(start, end - start))
    return True
