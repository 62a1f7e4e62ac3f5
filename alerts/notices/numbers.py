"""Detects when a number of a route's requests (chunks, lengths, scores) left its past."""

from __future__ import annotations

from collections import deque
from statistics import median

from alerts.notices.rare import LONG_WINDOW, REFERENCE, Mark, Rare

FEWEST = 100
"""Numbers of the past without which none stands out."""
RENEWED = 20
"""Requests between two computations of the edges, which sort the past."""
EDGES = ((0.01, 0.02), (0.1, 0.13))
"""Shares of the past at both tails beyond which a number stands out, and what they may truly be."""
CHANCE = 1e-8
"""Stricter than for values: numbers move a little by themselves, and four tests watch each."""


class Number:
    """One number of a route against the 400 before the newest 60 requests."""

    __slots__ = ("_edges", "_fresh", "_past", "_rare", "_until_renewed")

    def __init__(self) -> None:
        self._past: deque[float] = deque(maxlen=REFERENCE)
        self._fresh: deque[tuple[Mark, float]] = deque()
        self._edges: tuple[tuple[float, float], ...] = ()
        self._until_renewed = 0
        self._rare = tuple(
            Rare(floor=floor, chance=CHANCE) for _, floor in EDGES for _ in ("under", "over")
        )

    def push(self, number: float | None, mark: Mark) -> Mark | None:
        """Takes a number; returns the first request of a move once the move is certain."""
        if number is None:
            return None
        self._fresh.append((mark, number))
        if len(self._fresh) > LONG_WINDOW:
            self._past.append(self._fresh.popleft()[1])
        if len(self._past) < FEWEST:
            return None
        self._renew()
        # Two tails of two edges: four streams of yes and no.
        flags = (flag for low, high in self._edges for flag in (number < low, number > high))
        firsts = [rare.push(flag, mark) for rare, flag in zip(self._rare, flags, strict=True)]
        return min((first for first in firsts if first is not None), default=None)

    def before(self) -> float | None:
        """The median before the newest requests."""
        return median(self._past) if self._past else None

    def since(self, mark: Mark) -> float | None:
        """The median since a request."""
        newer = [number for at, number in self._fresh if at >= mark]
        return median(newer) if newer else None

    def is_beyond(self, since: Mark) -> bool:
        """Whether the median since a request lies beyond all numbers of the past."""
        now = self.since(since)
        return (
            now is not None and bool(self._past) and not (min(self._past) <= now <= max(self._past))
        )

    def renewed(self, since: Mark) -> Number:
        """Returns a number whose past are only the requests since then."""
        other = Number()
        other._past.extend(number for mark, number in self._fresh if mark >= since)
        return other

    def _renew(self) -> None:
        if self._until_renewed:
            self._until_renewed -= 1
            return
        ordered = sorted(self._past)
        last = len(ordered) - 1
        self._edges = tuple((ordered[int(low * last)], ordered[-int(low * last) - 1])
                            for low, _ in EDGES)  # fmt: skip
        self._until_renewed = RENEWED
