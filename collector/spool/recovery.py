"""What a start finds in a spool directory, after whatever happened before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from collector.spool.directory import (
    HIGHEST_SEQ,
    MARK_NAME,
    MARK_SIZE,
    FrameGone,
    Mark,
    SegmentName,
    highest_checkpoint,
    is_checkpoint,
    published,
    quarantine,
    segment_names,
)
from collector.spool.files import Files, ReadFile
from collector.spool.frames import previous_seq
from collector.spool.scan import Found, scan
from collector.spool.segments import OPENING_SIZE, Segment

SEQ_GAP = 1 << 20
"""A start begins at the next multiple: the seq of a frame that was torn off never comes again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What was found and what was lost; the start succeeds in any case.

    `torn_bytes` were never acknowledged and are cut off. `damaged` ranges are copied to
    `quarantine/` and skipped by readers; `lost_spans` and `lost_logs` are what the frames around
    them say was acknowledged between them. `unchecked` segments lay beyond the byte limit of the
    start; readers check every frame anyway. `foreign` files have no name of ours; `failed` ones
    could not be read, mended or copied.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a writer goes on: the last seq, a next one, and everything acknowledged so far."""

    last_seq: int = 0
    next_seq: int = 1
    spans: int = 0
    logs: int = 0


def recover(files: Files, directory: Path, *, check_bytes: int) -> tuple[Recovery, Position]:
    """Checks the newest `check_bytes` of segments and mends what can be mended.

    Raises OSError only where the directory itself can not be made or listed.
    """
    files.make_directory(directory)
    entries = files.entries(directory)
    names = segment_names(entries)
    chosen = _newest(names, entries, check_bytes)
    walk = _Walk(files, directory, _last_mark(files, directory))
    for name, following in zip(chosen, [*chosen[1:], None], strict=False):
        walk.segment(name, following)
    walk.finish()
    for name in names[:-1]:  # the newest stays: its name keeps the seqs rising
        if entries[str(name)] <= OPENING_SIZE:
            walk.remove(name)
    last_seq = max(walk.last_seq, highest_checkpoint(files, directory, entries))
    highest = max(last_seq, names[-1].first_seq if names else 0)
    recovery = Recovery(
        segments=len(names),
        unchecked=len(names) - len(chosen),
        foreign=len(entries) - len(names) - sum(_is_own(name) for name in entries),
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
    return name == MARK_NAME or is_checkpoint(name)


def _last_mark(files: Files, directory: Path) -> Mark:
    try:
        mark = published(files.share(directory / MARK_NAME, MARK_SIZE))
    except OSError:  # a full disk, say; the mark only sharpens what the segments tell
        return Mark()
    return mark if mark and mark.seq <= HIGHEST_SEQ else Mark()


def _newest(names: list[SegmentName], entries: dict[str, int], limit: int) -> list[SegmentName]:
    """The newest segments, oldest first, of together at most `limit` bytes but at least two."""
    taken: list[SegmentName] = []
    total = 0
    for name in reversed(names):
        total += entries[str(name)]
        if total > limit and len(taken) >= 2:
            break
        taken.append(name)
    return taken[::-1]


class _Walk:
    """Goes through segments in order and adds up what it meets."""

    def __init__(self, files: Files, directory: Path, mark: Mark) -> None:
        self._files = files
        self._directory = directory
        self._mark = mark
        self._has_begun = False
        self.counts: Counter[str] = Counter()
        self.last_seq = 0
        self.spans = 0
        self.logs = 0

    def segment(self, name: SegmentName, following: SegmentName | None) -> None:
        """Checks one segment; of the last one a torn tail is cut off."""
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
        """Counts what was acknowledged, by the mark, behind the last frame that is left."""
        if self._mark.seq > self.last_seq:
            self._move(self._mark.seq, self._mark.spans, self._mark.logs)

    def remove(self, name: SegmentName) -> None:
        """Removes a segment that holds nothing, the trace of a start without traffic."""
        try:
            self._files.remove(self._directory / str(name))
        except OSError:
            self.counts["failed"] += 1

    def _check(self, name: SegmentName, source: ReadFile, limit: int, *, is_last: bool) -> None:
        size = source.size()
        for found in scan(source, name.salt, 0, size):
            frame = found.frame
            if frame and frame.seq > limit:
                return  # refused: its sync failed, and the next segment says so
            if frame and frame.seq > self.last_seq:
                self._move(frame.seq, frame.spans_before, frame.logs_before)
                self.spans, self.logs = frame.spans_after, frame.logs_after
                self.counts["frames"] += frame.signal is not None
            elif is_last and found.end == size and not self._was_durable(name, found):
                self._files.truncate(self._directory / str(name), found.start)
                self.counts["torn_bytes"] += found.end - found.start
            else:
                self._set_aside(name, source, found)

    def _move(self, seq: int, spans: int, logs: int) -> None:
        """Steps to a place where so much was acknowledged before; a jump is a loss."""
        if self._has_begun or seq == self._mark.seq:
            self.counts["lost_spans"] += max(0, spans - self.spans)
            self.counts["lost_logs"] += max(0, logs - self.logs)
        self._has_begun = True
        self.last_seq = seq
        self.spans, self.logs = max(spans, self.spans), max(logs, self.logs)

    def _was_durable(self, name: SegmentName, found: Found) -> bool:
        return self._mark.segment == name.first_seq and self._mark.end > found.start

    def _set_aside(self, name: SegmentName, source: ReadFile, found: Found) -> None:
        self.counts["damaged"] += 1
        try:
            quarantine(self._files, self._directory, name, source, found.start, found.end)
        except OSError:  # no room for a copy: the range stays in its segment
            self.counts["failed"] += 1


def last_seq_before(files: Files, directory: Path, following: SegmentName | None) -> int:
    """The last acknowledged seq before the segment `following`; the highest where unknown.

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
    return previous_seq(first) if first else following.first_seq - 1
