"""The files of a spool directory: segments, the durable mark, checkpoints.

00000000000000000001-5f3a9c02.seg   a segment: its first seq and the salt of its checksums
durable.mark                        how far the segments are synced; shared memory
checkpoint-<consumer>               the last seq that a consumer is done with
quarantine/                         copies of damaged ranges, and segments that cannot be read
*.aside                             what stood in the place of one of these and is none
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from collector.spool.files import DRAFT, Files, ReadFile, read_whole, status_of, write_durably

QUARANTINE = "quarantine"
END_ASKED = "end_asked"
HIGHEST_SEQ = 1 << 53
"""No seq lies above: JSON readers keep integers exact only up to here."""
_SEGMENT = re.compile(r"(\d{20})-([0-9a-f]{8})\.seg")
ASIDE = ".aside"
CORE = "core"
"""The consumer that stores what the spool holds."""
_CHECKPOINT = "checkpoint-"


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
class Checkpoint:
    """The last seq that a consumer has finished; 0 if it has not begun.

    `spans` counts the spans acknowledged up to there, so that the next life sees what is missing
    behind it; None in a checkpoint that does not say.
    """

    seq: int = 0
    spans: int | None = None


def write_checkpoint(files: Files, directory: Path, consumer: str, checkpoint: Checkpoint) -> None:
    """Stores durably how far `consumer` is."""
    text = str(checkpoint.seq)
    if checkpoint.spans is not None:
        text += f" {checkpoint.spans}"
    content = f"{text} {zlib.crc32(text.encode()):08x}\n"
    write_durably(files, directory / checkpoint_name(consumer), content.encode())


def read_checkpoint(files: Files, directory: Path, consumer: str) -> Checkpoint:
    """The stored checkpoint; that of a consumer that has not begun if it is missing or damaged."""
    try:
        content = read_whole(files, directory / checkpoint_name(consumer))
    except OSError:
        return Checkpoint()
    # A damaged checkpoint reads as none: everything still in the spool is read again.
    text, _, checksum = content.decode("ascii", "replace").strip().rpartition(" ")
    numbers = text.split(" ")
    are_numbers = len(numbers) <= 2 and all(number.isdecimal() for number in numbers)
    if not are_numbers or checksum != f"{zlib.crc32(text.encode()):08x}":
        return Checkpoint()
    return Checkpoint(seq=int(numbers[0]), spans=int(numbers[1]) if numbers[1:] else None)


def checkpoint_name(consumer: str) -> str:
    """The file of a consumer's checkpoint."""
    return _CHECKPOINT + consumer


def consumers(entries: Iterable[str]) -> list[str]:
    """The consumers that have a checkpoint among the names of a directory."""
    return [name.removeprefix(_CHECKPOINT) for name in entries if is_checkpoint(name)]


def is_checkpoint(name: str) -> bool:
    """Whether a file of this name holds a consumer's checkpoint."""
    return name.startswith(_CHECKPOINT) and not name.endswith((DRAFT, ASIDE))


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


def ask_for_end(directory: Path) -> None:
    """Asks the writer, in another process, to end the segment being written. Raises OSError."""
    (directory / END_ASKED).touch()


def is_end_asked(directory: Path) -> bool:
    """Whether somebody asked since the last call."""
    try:
        (directory / END_ASKED).unlink()
    except OSError:
        return False
    return True


def set_segment_aside(files: Files, directory: Path, name: SegmentName) -> None:
    """Moves a segment that cannot be read to `quarantine/`, so that nothing deletes it there.

    Raises OSError.
    """
    folder = directory / QUARANTINE
    files.make_directory(folder)
    files.rename(directory / str(name), folder / str(name))
    files.sync_directory(directory)


def set_aside(files: Files, path: Path) -> None:
    """Renames what stands in the place of a file of the spool and is none. Raises OSError."""
    places = (path.with_name(f"{path.name}.{n}{ASIDE}") for n in itertools.count(1))
    files.rename(path, next(place for place in places if status_of(files, place) is None))
