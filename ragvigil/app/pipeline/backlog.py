"""Closed traces that wait to be scored, large ones apart: no other waits for them (ADR 21)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence

from collector.assembly.refs import Closing

LARGE_BYTES = 512 << 10
"""A trace of this size may take a second to score, as long as two thousand usual ones."""
TURN_BYTES = 4 << 20
"""Bytes of spans of one scoring batch. A batch takes each step as a whole, which is faster than
trace by trace, and is held in memory as a whole (ADR 18)."""


class Backlog:
    """Closings in the order in which they closed. `is_suspect` says which are scored alone."""

    def __init__(self, is_suspect: Callable[[Closing], bool]) -> None:
        self._is_suspect = is_suspect
        self._usual: deque[Closing] = deque()
        self._large: deque[Closing] = deque()

    def __len__(self) -> int:
        return len(self._usual) + len(self._large)

    @property
    def has_large(self) -> bool:
        """Whether a large trace waits."""
        return bool(self._large)

    def add(self, closings: Iterable[Closing]) -> None:
        """Puts closings behind those that wait."""
        large = {closing.trace_id for closing in self._large}
        for closing in closings:
            if self._goes_apart(closing, large):
                self._large.append(closing)
                large.add(closing.trace_id)
            else:
                self._usual.append(closing)

    def put_back(self, closings: Sequence[Closing]) -> None:
        """Puts what was taken last in front again."""
        large = {closing.trace_id for closing in self._large}
        for closing in reversed(closings):
            is_apart = self._goes_apart(closing, large)
            (self._large if is_apart else self._usual).appendleft(closing)

    def _goes_apart(self, closing: Closing, large: Collection[str]) -> bool:
        """Whether it is large, or waits behind an earlier generation, which it must find stored."""
        is_large = sum(ref.size for ref in closing.refs) >= LARGE_BYTES
        return (is_large or closing.trace_id in large) and not self._is_suspect(closing)

    def next_batch(self, most: int) -> list[Closing]:
        """Takes the next usual ones: at most one of a trace, a suspect alone."""
        batch: dict[str, Closing] = {}
        size = 0
        while self._usual and len(batch) < most and size < TURN_BYTES:
            is_suspect = self._is_suspect(self._usual[0])
            # A later generation must find the earlier one in the store.
            if self._usual[0].trace_id in batch or (batch and is_suspect):
                break
            closing = self._usual.popleft()
            batch[closing.trace_id] = closing
            size += sum(ref.size for ref in closing.refs)
            if is_suspect:
                break
        return list(batch.values())

    def next_large(self, in_work: Collection[str]) -> Closing | None:
        """Takes the next large one; None while an earlier generation waits or is `in_work`."""
        if not self._large or self._large[0].trace_id in in_work:
            return None
        if any(closing.trace_id == self._large[0].trace_id for closing in self._usual):
            return None
        return self._large.popleft()

    def spans(self) -> int:
        """The spans of all that wait."""
        return sum(len(closing.refs) for closing in (*self._usual, *self._large))

    def oldest_seq(self) -> int | None:
        """The first frame that a waiting closing needs."""
        waiting = (*self._usual, *self._large)
        return min((closing.first_seq for closing in waiting), default=None)
