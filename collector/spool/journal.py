"""The spool's writer without its waiting: one group of frames at a time, synced, then shown.

A write or sync that fails is never tried again on that file: the kernel may have dropped the
dirty pages and would report the next sync as done. The group is refused, and the next one
begins a new segment whose opening says which seq was the last acknowledged one before it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from collector.spool.directory import (
    MARK_NAME,
    MARK_SIZE,
    Mark,
    SegmentName,
    SpoolError,
    SpoolFull,
    publish,
)
from collector.spool.files import AppendFile, Files, SharedBytes
from collector.spool.frames import Frame, encode, opening
from collector.spool.recovery import Position, Recovery, recover

SEGMENT_BYTES = 64 << 20
CHECK_BYTES = 256 << 20
"""How much a start reads: two seconds of a slow disk. Readers check every frame anyway."""
_FULL = {errno.ENOSPC, errno.EDQUOT}


def random_salt() -> int:
    """A salt that nobody who sends data can know."""
    return int.from_bytes(os.urandom(4), "little")


@dataclass(slots=True, kw_only=True)
class _Open:
    """The segment that is being written; `end` is the offset behind its last synced frame."""

    name: SegmentName
    file: AppendFile
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
        salt: Callable[[], int] = random_salt,
    ) -> None:
        """Recovers what lies in `directory`. Raises OSError where it can not be used at all."""
        self.recovery: Recovery
        self.recovery, self._position = recover(files, directory, check_bytes=check_bytes)
        self._files = files
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._salt = salt
        self._acknowledged = self._position.next_seq - 1  # whatever a start found is kept
        self._open: _Open | None = None
        self._empty: SegmentName | None = None
        self._shared: SharedBytes | None = None
        with suppress(OSError):  # a full disk: shared at the first commit that succeeds
            self._show()

    def commit(self, frames: Sequence[Frame]) -> list[int]:
        """The seqs of `frames`, whose own are ignored, when all of them are durable.

        Raises SpoolFull, SpoolError: then none of them is ever read, unless the process ends
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
        except OSError as error:
            self._position = replace(self._position, next_seq=after.next_seq)
            self._abandon(segment)
            raise _refusal(error, self._directory) from error
        segment.end += len(data)
        self._position, self._acknowledged = after, after.last_seq
        self._show()
        return [frame.seq for frame in numbered]

    def close(self) -> None:
        """Closes the segment; everything committed is already durable."""
        if self._open:
            self._open.file.close()
            self._open = None

    def _segment(self) -> _Open:
        if self._open and self._open.end >= self._segment_bytes:
            self.close()
        if not self._open:
            self._show()
            self._open = self._begin()
            if self._empty:
                with suppress(OSError):  # it holds nothing; the next start tries again
                    self._files.remove(self._directory / str(self._empty))
                self._empty = None
        return self._open

    def _begin(self) -> _Open:
        """A new segment whose opening and name are durable before any frame goes into it."""
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
            self._files.sync_directory(self._directory)
        except OSError:
            with suppress(OSError):  # what remains is an opening without frames
                file.close()
                self._files.remove(path)
            raise
        return _Open(name=name, file=file, begin=len(data), end=len(data))

    def _abandon(self, segment: _Open) -> None:
        """Leaves a segment whose write or sync failed, without what was not acknowledged."""
        self._open = None
        if segment.end == segment.begin:
            self._empty = segment.name
        with suppress(OSError):  # the next segment's opening says where this one ends
            segment.file.close()
            self._files.truncate(self._directory / str(segment.name), segment.end)

    def _show(self) -> None:
        """Lets the other process see how far the spool is durable."""
        if self._shared is None:
            self._shared = self._files.share(self._directory / MARK_NAME, MARK_SIZE)
        at, segment = self._position, self._open
        mark = Mark(
            seq=at.last_seq,
            spans=at.spans,
            logs=at.logs,
            segment=segment.name.first_seq if segment else 0,
            end=segment.end if segment else 0,
        )
        publish(self._shared, mark)


def _number(frames: Sequence[Frame], start: Position) -> tuple[list[Frame], Position]:
    """The frames with their seqs and running totals, and the position behind them."""
    numbered = []
    seq, spans, logs = start.next_seq, start.spans, start.logs
    for frame in frames:
        frame = replace(frame, seq=seq, spans_before=spans, logs_before=logs)
        numbered.append(frame)
        seq, spans, logs = seq + 1, frame.spans_after, frame.logs_after
    return numbered, Position(last_seq=seq - 1, next_seq=seq, spans=spans, logs=logs)


def _refusal(error: OSError, directory: Path) -> SpoolError:
    kind = SpoolFull if error.errno in _FULL else SpoolError
    return kind(error.errno, f"the spool in {directory} can not write: {error.strerror or error}")
