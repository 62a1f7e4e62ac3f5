"""Checks and repairs a spool directory at start, whatever a crash or the disk did to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from collector.spool.directory import (
    ASIDE,
    CORE,
    HIGHEST_SEQ,
    FrameGone,
    SegmentName,
    checkpoint_name,
    consumers,
    is_checkpoint,
    quarantine,
    read_checkpoint,
    segment_names,
    set_aside,
)
from collector.spool.files import DRAFT, Files, ReadFile, status_of
from collector.spool.frames import previous_seq
from collector.spool.mark import MARK_NAME, Mark, SharedMark
from collector.spool.scan import Range, scan
from collector.spool.segments import OPENING_SIZE, Segment

SEQ_GAP = 1 << 20
"""A start goes on at the next multiple: the seq of a torn-off frame is never given away again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What a start found and what was lost; the start succeeds in any case.

    `torn_bytes` were never acknowledged and are cut off. `damaged` ranges are copied to
    `quarantine/` and skipped by readers. `lost_spans` and `lost_logs` were acknowledged between
    two readable frames, by the totals in these frames. `unchecked` segments lie beyond the byte
    limit of the start; readers check every frame anyway. `foreign` files are not the spool's;
    `failed` files could not be read, repaired or copied. `set_aside` counts folders that had the
    name of one of the spool's files, and checkpoints ahead of everything acknowledged.
    """

    segments: int = 0
    frames: int = 0
    torn_bytes: int = 0
    damaged: int = 0
    lost_spans: int = 0
    lost_logs: int = 0
    unchecked: int = 0
    foreign: int = 0
    failed: int = 0
    set_aside: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether nothing was damaged, lost or strange."""
        strange = (self.damaged, self.lost_spans, self.lost_logs, self.failed, self.set_aside)
        return not any(strange)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a writer goes on: last and next seq, and the totals acknowledged until now."""

    last_seq: int = 0
    next_seq: int = 1
    spans: int = 0
    logs: int = 0


def recover(files: Files, directory: Path, *, check_bytes: int) -> tuple[Recovery, Position]:
    """Checks the newest `check_bytes` of segments and repairs what it can.

    Raises OSError only if the directory itself cannot be created or listed.
    """
    files.make_directory(directory)
    counts = _clear_names(files, directory)
    entries = files.entries(directory)
    names = segment_names(entries)
    chosen = _newest(names, entries, check_bytes)
    walk = _Walk(files, directory, _last_mark(files, directory), counts)
    for name, following in zip(chosen, [*chosen[1:], None], strict=False):
        walk.segment(name, following)
    walk.finish()
    for name in names[:-1]:  # the newest stays: its name keeps the seqs increasing
        if entries[str(name)] <= OPENING_SIZE:
            walk.remove(name)
    highest = max(walk.last_seq, names[-1].first_seq if names else 0)
    for consumer in consumers(entries):
        walk.checkpoint(consumer, highest)
    last_seq = walk.last_seq
    highest = max(last_seq, highest)
    recovery = Recovery(
        segments=len(names),
        unchecked=len(names) - len(chosen),
        foreign=sum(not _is_own(name) for name in entries) - len(names),
        **walk.counts,
    )
    next_seq = (highest // SEQ_GAP + 1) * SEQ_GAP if highest else 1
    return recovery, Position(
        last_seq=last_seq,
        next_seq=next_seq,
        spans=walk.spans,
        logs=walk.logs,
    )


def _is_own(name: str) -> bool:
    return name == MARK_NAME or is_checkpoint(name) or name.endswith((DRAFT, ASIDE))


def _clear_names(files: Files, directory: Path) -> Counter[str]:
    """Renames folders that have the name of a file that the spool writes."""
    counts: Counter[str] = Counter()
    checkpoint = checkpoint_name(CORE)
    for name in (MARK_NAME, checkpoint, f"{checkpoint}{DRAFT}"):
        try:
            status = status_of(files, directory / name)
            if status and not status.is_file:
                set_aside(files, directory / name)
                counts["set_aside"] += 1
        except OSError:
            counts["failed"] += 1
    return counts


def _last_mark(files: Files, directory: Path) -> Mark:
    try:
        mark = SharedMark(files, directory).read()
    except OSError:  # a full disk, for instance; the mark only adds to what the segments say
        return Mark()
    return mark if mark and mark.seq <= HIGHEST_SEQ else Mark()


def _newest(names: list[SegmentName], entries: dict[str, int], limit: int) -> list[SegmentName]:
    """The newest segments of at most `limit` bytes in total, but at least two; oldest first."""
    newest: list[SegmentName] = []
    total = 0
    for name in reversed(names):
        total += entries[str(name)]
        if total > limit and len(newest) >= 2:
            break
        newest.append(name)
    return newest[::-1]


class _Walk:
    """Goes through the segments in order, adds up frames and losses, and repairs."""

    def __init__(self, files: Files, directory: Path, mark: Mark, counts: Counter[str]) -> None:
        self._files = files
        self._directory = directory
        self._mark = mark
        self._has_begun = False
        self.counts = counts
        self.last_seq = 0
        self.spans = 0
        self.logs = 0

    def segment(self, name: SegmentName, following: SegmentName | None) -> None:
        """Checks a segment; cuts a torn tail off if it is the last."""
        try:
            limit = last_seq_before(self._files, self._directory, following)
            source = self._files.open(self._directory / str(name))
        except OSError:
            self.counts["failed"] += 1
            return
        try:
            self._check(name, source, limit, is_last=following is None)
        except OSError:
            self.counts["failed"] += 1
        finally:
            source.close()

    def finish(self) -> None:
        """Counts as lost what the mark says was acknowledged behind the last frame found."""
        if self._mark.seq > self.last_seq:
            self._move(self._mark.seq, self._mark.spans, self._mark.logs)

    def checkpoint(self, consumer: str, highest: int) -> None:
        """Goes on behind a checkpoint that is ahead of the segments, which were consumed then.

        A checkpoint that is ahead of the mark and of `highest` too is not this spool's: it would
        hide what follows, and is set aside.
        """
        checkpoint = read_checkpoint(self._files, self._directory, consumer)
        # Without any segment it hides nothing, and says how far this spool was.
        is_false = highest and self._mark.seq and checkpoint.seq > max(self._mark.seq, highest)
        if is_false or checkpoint.seq > HIGHEST_SEQ // 2:
            try:
                set_aside(self._files, self._directory / checkpoint_name(consumer))
                self.counts["set_aside"] += 1
            except OSError:
                self.counts["failed"] += 1
        elif checkpoint.seq > self.last_seq:
            self.last_seq = checkpoint.seq
            self.spans = max(self.spans, checkpoint.spans or 0)

    def remove(self, name: SegmentName) -> None:
        """Removes a segment without frames, left by a start without traffic."""
        try:
            self._files.remove(self._directory / str(name))
        except OSError:
            self.counts["failed"] += 1

    def _check(self, name: SegmentName, source: ReadFile, limit: int, *, is_last: bool) -> None:
        size = source.size()
        for part in scan(source, name.salt, 0, size):
            frame = part.frame
            if frame and frame.seq > limit:
                return  # refused: its sync failed; the next segment's opening says so
            if frame and frame.seq > self.last_seq:
                self._move(frame.seq, frame.spans_before, frame.logs_before)
                self.spans, self.logs = frame.spans_after, frame.logs_after
                self.counts["frames"] += frame.signal is not None
            elif is_last and part.end == size and not self._was_durable(name, part):
                self._files.truncate(self._directory / str(name), part.start)
                self.counts["torn_bytes"] += part.end - part.start
            else:
                self._set_aside(name, source, part)

    def _move(self, seq: int, spans: int, logs: int) -> None:
        """Moves on to `seq`, with `spans` and `logs` acknowledged before it; a jump is a loss."""
        if self._has_begun or seq == self._mark.seq:
            self.counts["lost_spans"] += max(0, spans - self.spans)
            self.counts["lost_logs"] += max(0, logs - self.logs)
        self._has_begun = True
        self.last_seq = seq
        self.spans, self.logs = max(spans, self.spans), max(logs, self.logs)

    def _was_durable(self, name: SegmentName, part: Range) -> bool:
        """Whether the mark covers it: then it was acknowledged, and is damage, not a torn tail."""
        return self._mark.segment == name.first_seq and self._mark.end > part.start

    def _set_aside(self, name: SegmentName, source: ReadFile, part: Range) -> None:
        self.counts["damaged"] += 1
        try:
            quarantine(self._files, self._directory, name, source, part.start, part.end)
        except OSError:  # no room for a copy: the range stays in its segment
            self.counts["failed"] += 1


def last_seq_before(files: Files, directory: Path, following: SegmentName | None) -> int:
    """The last acknowledged seq before the segment `following`; HIGHEST_SEQ if unknown.

    Raises OSError.
    """
    if following is None:
        return HIGHEST_SEQ
    segment = Segment(files, directory, following)
    try:
        first = segment.opening()
    except FrameGone:
        return HIGHEST_SEQ
    finally:
        segment.release()
    if first and first.seq != following.first_seq:
        return HIGHEST_SEQ  # a segment under a wrong name says nothing about the one before it
    return previous_seq(first) if first else following.first_seq - 1
