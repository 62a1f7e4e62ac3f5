"""Detects when something that seldom happens happens too often."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import comb, sqrt

from alerts.signals.ceilings import evidence

WINDOW = 15
"""Newest observations of the short window: a whole change shows within them (bench/notices.py)."""
LONG_WINDOW = 60
"""Newest observations of the long window, for changes that only a share of requests shows."""
REFERENCE = 400
"""Observations of the past that are kept."""
FEWEST = 12
"""Observations of the past without which nothing is certain."""
CHANCE = 5e-6
"""Highest probability that a window shows this much by chance."""
UNSEEN = 0.2
"""Assumed count of an event that never happened: n observations give a rate of 0.2 / (n + 1).

An event that did happen is assumed two standard deviations more frequent than it was."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mark:
    """A request of a route: its number there, counted from 1, and its time."""

    number: int
    time_unix_nano: int


class Rare:
    """A stream of yes and no: are there more yes among the newest than the past explains?

    The newest 15 are compared with up to 400 before them, and the newest 60 with those before.
    Two things make it certain: the binomial tail of the past's share is under five in a million,
    and no window of the past held nearly as many (an event that comes in bursts is no news).

    >>> rare, at = Rare(), Mark(number=1, time_unix_nano=0)
    >>> [rare.push(False, at) for _ in range(300)][-1], [rare.push(True, at) for _ in range(3)]
    (None, [None, None, Mark(number=1, time_unix_nano=0)])
    """

    __slots__ = ("_calm", "_chance", "_floor", "_fresh", "_in_fresh", "_in_long", "_in_past",
                 "_marks", "_past")  # fmt: skip

    def __init__(self, flags: Iterable[bool] = (), *, floor: float = 0, chance: float = CHANCE):
        """`flags` are the past, `floor` is the smallest share that counts as usual."""
        self._floor, self._chance = floor, chance
        self._past: deque[bool] = deque(flags, maxlen=REFERENCE)
        self._fresh: deque[bool] = deque()
        self._marks: deque[Mark] = deque(maxlen=LONG_WINDOW)
        self._in_past, self._in_fresh = sum(self._past), 0
        self._in_long = sum(islice(reversed(self._past), LONG_WINDOW - WINDOW))
        # Most streams hold no yes at all: of these only the number of observations is kept.
        self._calm = 0

    @property
    def usual(self) -> float:
        """The share of yes in the past."""
        return self._in_past / len(self._past) if self._past else 0.0

    def before(self, mark: Mark) -> list[bool]:
        """The past up to a request."""
        self._unfold()
        count = sum(seen_mark < mark for seen_mark in self._marks)
        newest = list(self._fresh)
        aged = len(self._marks) - len(newest)
        flags = [*self._past, *newest]
        return flags[: len(flags) - (aged + len(newest) - count)]

    def newest(self, since: Mark) -> int:
        """How many of the newest 15 are yes, from a request on."""
        self._unfold()
        # Flags that were given as the past have no mark.
        newest = zip(reversed(self._fresh), reversed(self._marks), strict=False)
        return sum(flag for flag, mark in newest if mark >= since)

    def push(self, flag: bool, mark: Mark) -> Mark | None:
        """Takes an observation; returns the first request of a change once it is certain."""
        self._marks.append(mark)
        if not (flag or self._in_fresh or self._in_past):
            self._calm += 1
            return None
        self._unfold()
        self._fresh.append(flag)
        self._in_fresh += flag
        if len(self._fresh) > WINDOW:
            self._age()
        # The cheap checks first: this runs for every flag of every request.
        if not flag or self._in_fresh + self._in_long < 3 or len(self._past) < FEWEST:
            return None
        if self._is_news(self._in_fresh, WINDOW, self._in_past, len(self._past)):
            return self._marks[-self._reach(list(self._fresh), self.usual)]
        reach = self._long_reach()
        return self._marks[-reach] if reach else None

    def _unfold(self) -> None:
        """Makes what was only counted since the last yes part of the windows."""
        if self._calm:
            calm = [*self._past, *self._fresh, *[False] * min(self._calm, REFERENCE + WINDOW)]
            self._past = deque(calm[:-WINDOW], maxlen=REFERENCE)
            self._fresh = deque(calm[-WINDOW:])
            self._calm = 0

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
        newest = [*islice(self._past, before, None), *self._fresh]
        # Flags that were given as the past have no mark.
        return self._reach(newest[-len(self._marks) :], usual)

    def _is_news(self, count: int, window: int, in_past: int, past: int) -> bool:
        # Rounded, so that the cached tail is computed once for nearly equal shares.
        usual = max((in_past + 2 * sqrt(in_past) + UNSEEN) / (past + 1), self._floor)
        if count < 3 or usual >= 1 or tail(window, count, round(usual, 5)) > self._chance:
            return False
        return not in_past or count > 1 + self._most(window, past)

    def _most(self, window: int, past: int) -> int:
        """The most yes that any window of the past held."""
        flags = list(islice(self._past, past))
        count = most = sum(flags[:window])
        for old, new in zip(flags, flags[window:], strict=False):
            count += new - old
            most = max(most, count)
        return most

    def _reach(self, flags: list[bool], usual: float) -> int:
        """Steps back to the yes since which some higher share explains the flags best.

        The share is fitted for each step (a generalised likelihood ratio): a canary's first request
        lies as far back as its share is small.
        """
        usual = min(max(usual, 1 / REFERENCE, self._floor), 0.4)
        best, hits, reach = 0.0, 0, 1
        for back, flag in enumerate(reversed(flags), start=1):
            hits += flag
            if flag and (gain := evidence(hits, back, usual)) >= best:
                best, reach = gain, back
        return reach


@lru_cache(maxsize=65_536)
def tail(trials: int, least: int, chance: float) -> float:
    """The binomial probability of at least `least` hits in `trials`.

    >>> round(tail(15, 3, 0.01), 6)
    0.000416
    """
    terms = (
        comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(least, trials + 1)
    )
    return sum(terms)
