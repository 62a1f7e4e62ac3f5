"""Numbers of a request: how many chunks, how long, how scored. Did they leave their past?"""

from __future__ import annotations

from collections import deque
from statistics import median

from alerts.notices.rare import LONG_WINDOW, REFERENCE, Mark, Rare

FEWEST = 100
RENEWED = 20
EDGES = ((0.01, 0.02), (0.1, 0.13))
"""Shares of the past under and over which a number is remarkable, and what they may truly be."""
CHANCE = 1e-8
"""Numbers move a little by themselves, and there are many ways to look at them."""


class Number:
    """One number of a route against its newest 400, those of the newest 60 requests left out."""

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
        """Takes a number; the first request of a move where one is certain."""
        if number is None:
            return None
        self._fresh.append((mark, number))
        if len(self._fresh) > LONG_WINDOW:
            self._past.append(self._fresh.popleft()[1])
        if len(self._past) < FEWEST:
            return None
        self._renew()
        flags = (flag for low, high in self._edges for flag in (number < low, number > high))
        found = [rare.push(flag, mark) for rare, flag in zip(self._rare, flags, strict=True)]
        return min((one for one in found if one is not None), default=None)

    def before(self) -> float | None:
        """The median before the newest requests."""
        return median(self._past) if self._past else None

    def since(self, mark: Mark) -> float | None:
        """The median since a request."""
        newer = [number for at, number in self._fresh if at >= mark]
        return median(newer) if newer else None

    def renewed(self, since: Mark) -> Number:
        """One whose past is what came since then, and nothing else."""
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
