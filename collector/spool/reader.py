"""The spool's reader, in another process: durable frames only, in order.

The caller polls. A poll without news costs one read of shared memory.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from collector.spool.directory import (
    Checkpoint,
    FrameGone,
    SegmentName,
    read_checkpoint,
    segment_names,
    set_segment_aside,
    write_checkpoint,
)
from collector.spool.files import Files, RealFiles
from collector.spool.frames import Frame
from collector.spool.mark import Mark, SharedMark
from collector.spool.recovery import last_seq_before
from collector.spool.segments import Bound, Segment

OPEN_FILES = 64
"""Segment files open at a time; those least recently used are closed."""
READS_OF_A_SEGMENT = 500
"""So many failed reads in a row, 10 seconds of an idle core, give a segment up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the spool uses: bytes on disk, segments, and the oldest seq that may still be there.

    `damaged` counts the damaged ranges that this reader skipped in the segments still there,
    `failed_reads` the reads that raised OSError; `read` repeats those at its next calls, and moves
    a segment to `quarantine/` that stays unreadable.
    """

    bytes: int = 0
    segments: int = 0
    oldest_seq: int | None = None
    damaged: int = 0
    failed_reads: int = 0


class SpoolReader:
    """Reads frames in order or by seq, keeps checkpoints, drops consumed segments. One thread.

    `caught_up` is the mark up to which the last `read` gave every frame that there is; None if it
    did not come to its end. Spans that the mark counts and no frame brought are lost.
    """

    def __init__(self, directory: Path, *, files: Files | None = None) -> None:
        """Raises OSError if the directory cannot be created or listed."""
        self._directory = directory
        self._files = files or RealFiles()
        self._files.make_directory(directory)
        self._shared = SharedMark(self._files, directory)
        self._mark = Mark()
        self.caught_up: Mark | None = None
        self._failures: Counter[SegmentName] = Counter()
        self._names: list[SegmentName] = []
        self._listed_to = 0
        self._segments: dict[SegmentName, Segment] = {}
        self._limits: dict[SegmentName, int] = {}
        self._opened: OrderedDict[SegmentName, None] = OrderedDict()
        self._consumed: dict[SegmentName, float] = {}
        self._failed_reads = 0
        self._list()

    def mark(self) -> Mark:
        """How far the spool is durable, and how much was acknowledged in all."""
        # While the writer is writing the mark, or its file is gone, the previous one still holds.
        with suppress(OSError):
            self._mark = self._shared.read() or self._mark
        return self._mark

    @property
    def durable_seq(self) -> int:
        """The last seq that may be read; 0 if nothing was written yet."""
        return self.mark().seq

    def read(self, from_seq: int) -> Iterator[Frame]:
        """Durable frames from `from_seq` on, in order; ends when it has caught up."""
        mark, self.caught_up = self.mark(), None
        if mark.seq >= from_seq:
            self._refresh(mark)
            for name in self._names[max(0, self._at(from_seq)) :]:
                if name.first_seq > mark.seq:
                    break
                try:
                    for frame in self._segment(name).frames(from_seq, self._bound(name, mark)):
                        yield frame
                        from_seq = frame.seq + 1  # a copy of a segment brings no frame twice
                    self._failures.pop(name, None)
                except FrameGone:
                    continue  # dropped between the listing and the opening
                except OSError:
                    if not self._gives_up(name):
                        return  # the next call repeats it: going on would lose frames
        self.caught_up = mark

    def get(self, seq: int) -> Frame:
        """The frame `seq`. Raises FrameGone if it was dropped, is damaged or is not durable."""
        mark = self.mark()
        self._refresh(mark)
        at = self._at(seq)
        if at < 0:
            raise FrameGone(f"frame {seq} is older than the spool")
        name = self._names[at]
        try:
            return self._segment(name).get(seq, self._bound(name, mark))
        except OSError as error:
            raise FrameGone(f"frame {seq} cannot be read: {error}") from error

    def checkpoint(self, consumer: str, seq: int, spans: int | None = None) -> None:
        """Stores durably that `consumer` has finished every frame up to `seq`.

        `spans` counts the spans acknowledged up to there. Raises OSError.
        """
        self.release_dropped()
        checkpoint = Checkpoint(seq=seq, spans=spans)
        write_checkpoint(self._files, self._directory, consumer, checkpoint)

    def checkpoint_of(self, consumer: str) -> Checkpoint:
        """How far `consumer` is."""
        return read_checkpoint(self._files, self._directory, consumer)

    def drop_consumed(self, before_seq: int, *, older_than_seconds: float, now: float) -> int:
        """Removes segments that lie wholly below `before_seq`; returns how many.

        A segment goes only `older_than_seconds` after the first call, on the clock of `now`,
        that found it consumed. The one being written stays. Raises OSError.
        """
        self._list()
        dropped = 0
        for name, end in zip(self._names, self._ends(), strict=False):
            if end > before_seq:
                break
            if now - self._consumed.setdefault(name, now) >= older_than_seconds:
                self._files.remove(self._directory / str(name))
                dropped += 1
        self._list()
        return dropped

    def release_dropped(self) -> None:
        """Closes segments that another process has dropped: open, they keep their disk space.

        Raises OSError.
        """
        self._list()

    def usage(self) -> Usage:
        """What the spool uses now. Raises OSError."""
        entries = self._files.entries(self._directory)
        names = segment_names(entries)
        return Usage(
            bytes=sum(entries[str(name)] for name in names),
            segments=len(names),
            oldest_seq=names[0].first_seq if names else None,
            damaged=sum(segment.damaged for segment in self._segments.values()),
            failed_reads=self._failed_reads,
        )

    def close(self) -> None:
        """Releases every file."""
        for segment in self._segments.values():
            segment.release()

    def _ends(self) -> Iterator[int]:
        """A seq behind each segment; none for a newest one that is being written."""
        yield from (name.first_seq for name in self._names[1:])
        mark = self.mark()
        if self._names and self._names[-1].first_seq <= mark.seq and not mark.segment:
            yield mark.seq + 1

    def _gives_up(self, name: SegmentName) -> bool:
        """Counts a failed read; after too many it moves the segment away and returns True."""
        self._failed_reads += 1
        self._failures[name] += 1
        if self._failures[name] < READS_OF_A_SEGMENT:
            return False
        with suppress(OSError):  # a file that cannot be moved either stays, and is passed over
            set_segment_aside(self._files, self._directory, name)
        return True

    def _refresh(self, mark: Mark) -> None:
        """Lists the directory again if the writer has begun a segment that is not listed yet.

        Where it writes none, one may have begun and ended since the last look.
        """
        is_ended = not mark.segment and mark.seq > self._listed_to
        if is_ended or not self._names or mark.segment > self._names[-1].first_seq:
            self._list()
            self._listed_to = mark.seq

    def _list(self) -> None:
        self._names = segment_names(self._files.entries(self._directory))
        for gone in self._segments.keys() - set(self._names):
            self._segments.pop(gone).release()
            self._opened.pop(gone, None)
            self._limits.pop(gone, None)
            self._consumed.pop(gone, None)

    def _at(self, seq: int) -> int:
        """The index of the segment that holds `seq`; -1 if all begin later."""
        return bisect_right(self._names, seq, key=lambda name: name.first_seq) - 1

    def _bound(self, name: SegmentName, mark: Mark) -> Bound:
        """How far the segment may be read; the opening of the next segment says where it ends."""
        if name.first_seq == mark.segment:
            return Bound(last_seq=mark.seq, end=mark.end)
        if name not in self._limits:
            following = self._names[self._at(name.first_seq) + 1 :][:1]
            # Not cached while the next segment is missing or has no durable frame.
            if not following or following[0].first_seq > mark.seq:
                return Bound(last_seq=mark.seq)
            try:
                limit = last_seq_before(self._files, self._directory, following[0])
            except OSError:  # the next segment is given up when its turn comes, not this one
                return Bound(last_seq=min(mark.seq, following[0].first_seq - 1))
            self._limits[name] = limit
        return Bound(last_seq=min(mark.seq, self._limits[name]))

    def _segment(self, name: SegmentName) -> Segment:
        """The segment; closes the least recently used file if too many are open."""
        self._opened[name] = None
        self._opened.move_to_end(name)
        if len(self._opened) > OPEN_FILES:
            idle, _ = self._opened.popitem(last=False)
            self._segments[idle].release()
        if name not in self._segments:
            self._segments[name] = Segment(self._files, self._directory, name)
        return self._segments[name]
