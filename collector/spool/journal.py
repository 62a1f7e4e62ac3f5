"""The blocking half of the spool's writer: appends a group of frames, syncs, then publishes it.

A failed write or sync is never retried on the same file: the kernel may have dropped the dirty
pages and would report the next sync as done. The group is refused, and the next group begins a
new segment whose opening names the last acknowledged seq before it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from collector.spool.directory import SegmentName, SpoolError, SpoolFull
from collector.spool.files import AppendFile, Files, status_of
from collector.spool.frames import Frame, encode, opening
from collector.spool.mark import Mark, SharedMark
from collector.spool.recovery import Position, Recovery, recover

SEGMENT_BYTES = 64 << 20
CHECK_BYTES = 256 << 20
"""How much a start checks: two seconds of a slow disk. Readers check every frame anyway."""
_FULL = {errno.ENOSPC, errno.EDQUOT}


def random_salt() -> int:
    """A salt that senders cannot guess."""
    return int.from_bytes(os.urandom(4), "little")


@dataclass(slots=True, kw_only=True)
class _Open:
    """The segment being written: its opening ends at `begin`, its last synced frame at `end`.

    `number` says which file has its name.
    """

    name: SegmentName
    file: AppendFile
    number: int
    begin: int
    end: int


class Journal:
    """Makes groups of frames durable, in order. One caller at a time."""

    def __init__(
        self,
        files: Files,
        directory: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        check_bytes: int = CHECK_BYTES,
        least_seq: int = 1,
        salt: Callable[[], int] = random_salt,
    ) -> None:
        """Recovers what is in `directory`; new frames get seqs from `least_seq` on.

        Raises OSError if the directory cannot be used.
        """
        self.recovery: Recovery
        self.recovery, position = recover(files, directory, check_bytes=check_bytes)
        self._position = replace(position, next_seq=max(position.next_seq, least_seq))
        self._files = files
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._salt = salt
        # Everything that the start found counts as acknowledged, so readers may read all of it.
        self._acknowledged = self._position.next_seq - 1
        self._open: _Open | None = None
        self._empty: SegmentName | None = None
        self._mark: SharedMark | None = None
        with suppress(OSError):  # a full disk: published by the first commit that succeeds
            self._show()

    def commit(self, frames: Sequence[Frame]) -> list[int]:
        """Makes all of `frames` durable and returns the seqs given to them.

        Raises SpoolFull, SpoolError: readers then never see any of them, unless the process ends
        before the next commit.
        """
        try:
            segment = self._segment()
        except OSError as error:
            raise _refusal(error, self._directory) from error
        numbered, after = _number(frames, self._position)
        try:
            data = b"".join([encode(frame, segment.name.salt) for frame in numbered])
            segment.file.write(data)
            segment.file.sync()
            self._require_own(segment, segment.end + len(data))
        except OSError as error:
            # The refused seqs are not given away again: their frames may be on the disk.
            self._position = replace(self._position, next_seq=after.next_seq)
            self._abandon(segment)
            raise _refusal(error, self._directory) from error
        # Only now: readers must never see a frame that a power cut can take away.
        segment.end += len(data)
        self._position, self._acknowledged = after, after.last_seq
        with suppress(OSError):  # the mark was removed and the disk is full: shown by the next one
            self._show()
        return [frame.seq for frame in numbered]

    def close(self) -> None:
        """Closes the segment; everything committed is already durable."""
        if self._open:
            self._open.file.close()
            self._open = None

    def end_segment(self) -> None:
        """Ends the segment, so that it may be dropped; the next commit begins another."""
        if self._open:
            self.close()
            with suppress(OSError):
                self._show()

    def _segment(self) -> _Open:
        if self._open and self._open.end >= self._segment_bytes:
            self.close()
        if not self._open:
            self._show()
            self._open = self._begin()
            if self._empty:
                with suppress(OSError):  # it has no frames; the next start tries again
                    self._files.remove(self._directory / str(self._empty))
                self._empty = None
        return self._open

    def _begin(self) -> _Open:
        """Creates a segment; its opening and its name are durable before any frame goes into it."""
        at = self._position
        name = SegmentName(first_seq=at.next_seq, salt=self._salt())
        self._position = replace(at, next_seq=at.next_seq + 1)
        path = self._directory / str(name)
        first = opening(
            seq=name.first_seq, previous=self._acknowledged, spans=at.spans, logs=at.logs
        )
        data = encode(first, name.salt)
        file = self._files.create(path)
        try:
            file.write(data)
            file.sync()
            # Without this a crash may take the name away, and all synced frames with it.
            self._files.sync_directory(self._directory)
        except OSError:
            with suppress(OSError):  # at worst an opening without frames stays
                file.close()
                self._files.remove(path)
            raise
        status = status_of(self._files, path)
        number = status.number if status else 0
        return _Open(name=name, file=file, number=number, begin=len(data), end=len(data))

    def _require_own(self, segment: _Open, end: int) -> None:
        """Raises OSError if somebody has removed, renamed, cut or lengthened the segment."""
        status = status_of(self._files, self._directory / str(segment.name))
        if status is None or (status.number, status.size) != (segment.number, end):
            raise OSError(errno.ESTALE, f"{segment.name} was changed by somebody else")

    def _abandon(self, segment: _Open) -> None:
        """Gives up a segment whose write or sync failed, and cuts off its refused frames."""
        self._open = None
        if segment.end == segment.begin:
            self._empty = segment.name
        with suppress(OSError):  # the next segment's opening also says where this one ends
            segment.file.close()
            path = self._directory / str(segment.name)
            status = status_of(self._files, path)
            if status and status.number == segment.number and status.size > segment.end:
                self._files.truncate(path, segment.end)

    def _show(self) -> None:
        """Publishes to the other process how far the spool is durable."""
        if self._mark is None:
            self._mark = SharedMark(self._files, self._directory)
        at, segment = self._position, self._open
        mark = Mark(
            seq=at.last_seq,
            spans=at.spans,
            logs=at.logs,
            segment=segment.name.first_seq if segment else 0,
            end=segment.end if segment else 0,
        )
        self._mark.write(mark)


def _number(frames: Sequence[Frame], start: Position) -> tuple[list[Frame], Position]:
    """Returns the frames with seqs and running totals, and the position behind them."""
    numbered = []
    seq, spans, logs = start.next_seq, start.spans, start.logs
    for frame in frames:
        frame = replace(frame, seq=seq, spans_before=spans, logs_before=logs)
        numbered.append(frame)
        seq, spans, logs = seq + 1, frame.spans_after, frame.logs_after
    return numbered, Position(last_seq=seq - 1, next_seq=seq, spans=spans, logs=logs)


def _refusal(error: OSError, directory: Path) -> SpoolError:
    kind = SpoolFull if error.errno in _FULL else SpoolError
    return kind(error.errno, f"the spool in {directory} cannot write: {error.strerror or error}")
