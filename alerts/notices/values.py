"""Dimensions that are compared as they are: models, prompt, temperature, top-k, release."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from alerts.notices.rare import LONG_WINDOW, REFERENCE, WINDOW, Mark, Rare

RARE_SHARE = 0.01
RESTLESS = 0.1
"""Where so many requests bring seldom values, these say nothing."""
FEW_VALUES = 3
FEWEST = 12
FEWEST_OF_MANY = 60
"""Requests before a value can be remarkable, where there are few and where there are many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """What a dimension was and is, and the share of the newest requests that show the new."""

    before: str
    after: str
    share: float


class Value:
    """The values of one dimension on one route.

    A request is remarkable where its value makes up at most 1 % of those before the newest 60.
    A dimension that takes new values all the time is never news: that is its past.
    """

    __slots__ = ("_fresh", "_past", "_rare", "_usual")

    def __init__(self) -> None:
        self._past: deque[str] = deque()
        self._usual: Counter[str] = Counter()
        self._fresh: deque[tuple[Mark, str, bool]] = deque()
        self._rare = Rare()

    def push(self, value: str, mark: Mark) -> Mark | None:
        """Takes a value; the first request with new values where a change is certain."""
        if not value:
            return None
        few = len(self._usual) <= FEW_VALUES
        known = len(self._past) >= (FEWEST if few else FEWEST_OF_MANY)
        is_new = known and self._usual[value] <= RARE_SHARE * len(self._past)
        self._fresh.append((mark, value, is_new))
        if len(self._fresh) > LONG_WINDOW:
            self._learn(self._fresh.popleft()[1])
        return self._rare.push(is_new, mark) if known else None

    def swap(self, since: Mark) -> Swap:
        """The values before and since a request, in words."""
        new = Counter(value for mark, value, is_new in self._fresh if is_new and mark >= since)
        newest = [is_new for mark, _, is_new in self._fresh if mark >= since][-WINDOW:]
        return Swap(
            before=_named(self._usual),
            after=_named(new),
            share=round(sum(newest) / len(newest), 3) if newest else 1.0,
        )

    def is_changing(self, since: Mark) -> bool:
        """Whether most requests since then show new values: beside another change, no chance."""
        shown = [is_new for mark, _, is_new in self._fresh if mark >= since]
        return sum(shown) >= max(2, 0.5 * len(shown)) and self._rare.usual < RESTLESS

    def renewed(self, since: Mark) -> Value:
        """One for which what came since then is usual, and nothing else."""
        kept = [value for mark, value, _ in self._fresh if mark >= since]
        other = Value()
        for value in kept:
            other._learn(value)
        other._rare = Rare(self._rare.before(since))
        return other

    def _learn(self, value: str) -> None:
        self._past.append(value)
        self._usual[value] += 1
        if len(self._past) > REFERENCE:
            old = self._past.popleft()
            self._usual[old] -= 1
            if not self._usual[old]:
                del self._usual[old]


def _named(values: Counter[str]) -> str:
    """The commonest value, and how many others there are.

    >>> _named(Counter({"b": 2, "a": 9}))
    'a and 1 other'
    """
    if not values:
        return ""
    first = min(values, key=lambda value: (-values[value], value))
    others = len(values) - 1
    more = "" if not others else f" and {others} other{'s' if others > 1 else ''}"
    return f"{first}{more}"
