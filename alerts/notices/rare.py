"""Something that seldom happens, and whether it now happens too often."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import comb, log, sqrt

WINDOW = 15
LONG_WINDOW = 60
REFERENCE = 400
FEWEST = 12
"""Observations of the past without which nothing is said."""
CHANCE = 5e-6
"""How probable it may be that a window shows so much by chance."""
UNSEEN = 0.2
"""What never happened in n observations is taken to happen 0.2 / (n + 1) of the time; what did
happen, two standard deviations more often than it did."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mark:
    """A request of a route: its number there, counted from 1, and its time."""

    number: int
    time_unix_nano: int


class Rare:
    """A stream of yes and no: is there more yes among the newest than the past explains?

    The newest 15 stand against up to 400 before them, and the newest 60 against those before.
    Two things make it certain: the binomial tail of the past's share is under five in a million,
    and no window of the past held nearly as many (what comes in bursts is no news).

    >>> rare, at = Rare(), Mark(number=1, time_unix_nano=0)
    >>> [rare.push(False, at) for _ in range(300)][-1], [rare.push(True, at) for _ in range(3)]
    (None, [None, None, Mark(number=1, time_unix_nano=0)])
    """

    __slots__ = ("_chance", "_floor", "_fresh", "_in_fresh", "_in_long", "_in_past", "_marks",
                 "_past")  # fmt: skip

    def __init__(self, flags: Iterable[bool] = (), *, floor: float = 0, chance: float = CHANCE):
        """`flags` are a past, `floor` is the share that is usual at the least."""
        self._floor, self._chance = floor, chance
        self._past: deque[bool] = deque(flags, maxlen=REFERENCE)
        self._fresh: deque[bool] = deque()
        self._marks: deque[Mark] = deque(maxlen=LONG_WINDOW)
        self._in_past, self._in_fresh = sum(self._past), 0
        self._in_long = sum(islice(reversed(self._past), LONG_WINDOW - WINDOW))

    @property
    def usual(self) -> float:
        """The share of yes in the past."""
        return self._in_past / len(self._past) if self._past else 0.0

    def before(self, mark: Mark) -> list[bool]:
        """The past up to a request."""
        count = sum(one < mark for one in self._marks)
        newest = list(self._fresh)
        known = len(self._marks) - len(newest)
        flags = [*self._past, *newest]
        return flags[: len(flags) - (known + len(newest) - count)]

    def push(self, flag: bool, mark: Mark) -> Mark | None:
        """Takes an observation; the first request of a change where one is certain now."""
        self._fresh.append(flag)
        self._marks.append(mark)
        self._in_fresh += flag
        if len(self._fresh) > WINDOW:
            self._age()
        if not flag or self._in_fresh + self._in_long < 3 or len(self._past) < FEWEST:
            return None
        if self._is_news(self._in_fresh, WINDOW, self._in_past, len(self._past)):
            return self._marks[-self._reach(list(self._fresh), self.usual)]
        reach = self._long_reach()
        return self._marks[-reach] if reach else None

    def _age(self) -> None:
        flag = self._fresh.popleft()
        self._in_fresh -= flag
        if len(self._past) == REFERENCE:
            self._in_past -= self._past[0]
        self._past.append(flag)
        self._in_past += flag
        self._in_long += flag
        if len(self._past) > LONG_WINDOW - WINDOW:
            self._in_long -= self._past[-(LONG_WINDOW - WINDOW) - 1]

    def _long_reach(self) -> int:
        before = len(self._past) - (LONG_WINDOW - WINDOW)
        if before < LONG_WINDOW:
            return 0
        count = self._in_fresh + self._in_long
        if not self._is_news(count, LONG_WINDOW, self._in_past - self._in_long, before):
            return 0
        usual = (self._in_past - self._in_long) / before
        return self._reach([*islice(self._past, before, None), *self._fresh], usual)

    def _is_news(self, count: int, window: int, in_past: int, past: int) -> bool:
        usual = max((in_past + 2 * sqrt(in_past) + UNSEEN) / (past + 1), self._floor)
        if count < 3 or usual >= 1 or tail(window, count, round(usual, 5)) > self._chance:
            return False
        return not in_past or count > 1 + self._most(window, past)

    def _most(self, window: int, past: int) -> int:
        """The most that any window of the past held."""
        flags = list(islice(self._past, past))
        held = most = sum(flags[:window])
        for old, new in zip(flags, flags[window:], strict=False):
            held += new - old
            most = max(most, held)
        return most

    def _reach(self, flags: list[bool], usual: float) -> int:
        """From which yes on a share of a half explains them best, against the usual share."""
        usual = min(max(usual, 1 / REFERENCE, self._floor), 0.4)
        for_yes, for_no = log(0.5 / usual), log(0.5 / (1 - usual))
        best, held, reach = 0.0, 0.0, 1
        for back, flag in enumerate(reversed(flags), start=1):
            held += for_yes if flag else for_no
            if flag and held >= best:
                best, reach = held, back
        return reach


@lru_cache(maxsize=65_536)
def tail(trials: int, least: int, chance: float) -> float:
    """The probability of at least `least` in `trials`.

    >>> round(tail(15, 3, 0.01), 6)
    0.000416
    """
    terms = (
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(least, trials + 1)
    )
    return sum(terms)
