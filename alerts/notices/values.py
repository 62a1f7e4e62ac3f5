"""Detects new values of a dimension: model, prompt, temperature, top-k, release."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from alerts.notices.rare import LONG_WINDOW, REFERENCE, WINDOW, Mark, Rare

RARE_SHARE = 0.01
"""Share of the past up to which a value counts as new."""
RESTLESS = 0.1
"""Share of requests with rare values from which these are this dimension's usual state."""
FEW_VALUES = 3
FEWEST = 12
FEWEST_OF_MANY = 60
"""Requests before a value can count as new, in dimensions of few and of many values."""
KNOWN_NANOS = 8 * 86_400 * 10**9
"""A value that was usual within this time is no news: tenants and batches come by day or week."""
MOST_KNOWN = 200
BY_CHANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """The value of a dimension before and now, and the share of newest requests that show it."""

    before: str
    after: str
    share: float


class Value:
    """The values of one dimension on one route.

    A request stands out if its value came once, or in at most 1 % of those before the newest 60,
    and was not usual in the last eight days beside other values. A value that a change replaced is
    forgotten, so that going back is a change too. A value that a change brought to a share of the
    requests stands out once that share has grown: a canary that becomes the rule. Once the newest
    60 requests show it alone it is the usual one, and what it replaced is forgotten. A dimension
    that takes new values all the time never changes: that is its past. `known` are usual values
    with the time of their newest request.
    """

    __slots__ = ("_fresh", "_grown", "_known", "_leaving", "_past", "_rare", "_rolling", "_usual")

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._known = dict(known or {})
        self._past: deque[str] = deque()
        self._usual: Counter[str] = Counter()
        self._fresh: deque[tuple[Mark, str, bool]] = deque()
        self._rare = Rare()
        # By themselves: a value that all requests show by now would hide the next one.
        self._grown = Rare()
        self._rolling: frozenset[str] = frozenset()
        self._leaving: frozenset[str] = frozenset()

    def push(self, value: str, mark: Mark) -> Mark | None:
        """Takes a value; returns the first request with new values once a change is certain."""
        if not value:
            return None
        few = len(self._usual) <= FEW_VALUES
        has_past = len(self._past) >= (FEWEST if few else FEWEST_OF_MANY)
        is_rolling = value in self._rolling
        is_unusual = has_past and not is_rolling and self._is_unusual(value, mark)
        self._fresh.append((mark, value, is_rolling or is_unusual))
        if len(self._fresh) > LONG_WINDOW:
            oldest, aged, _ = self._fresh.popleft()
            self._learn(aged, oldest)
        first = self._rare.push(is_unusual, mark) if has_past else None
        if self._rolling:
            first = first or self._grown.push(is_rolling, mark)
            if is_rolling and first is None:
                self._end_roll_out()
        return first

    def _is_unusual(self, value: str, mark: Mark) -> bool:
        is_known = mark.time_unix_nano - self._known.get(value, -KNOWN_NANOS) < KNOWN_NANOS
        return self._usual[value] <= self._seldom() and not is_known

    def _end_roll_out(self) -> None:
        """Makes the values that are rolled out the usual ones, once nothing else comes."""
        newest = list(self._fresh)
        if len(newest) < LONG_WINDOW or any(value not in self._rolling for _, value, _ in newest):
            return
        for value in self._leaving:
            self._known.pop(value, None)
        self._rolling = self._leaving = frozenset()
        for entries in (self._past, self._usual, self._fresh):
            entries.clear()
        for mark, value, _ in newest:
            self._learn(value, mark)

    def learn(self, value: str, mark: Mark) -> None:
        """Takes a value as usual at once."""
        self._learn(value, mark)
        self._rare.push(False, mark)

    def swap(self, since: Mark) -> Swap:
        """The values before and since a request, in words."""
        new = Counter(value for mark, value, is_new in self._fresh if is_new and mark >= since)
        newest = [is_new for mark, _, is_new in self._fresh if mark >= since][-WINDOW:]
        return Swap(
            before=_named(self._settled()),
            after=_named(new),
            share=round(sum(newest) / len(newest), 3) if newest else 1.0,
        )

    def new_marks(self, since: Mark) -> frozenset[Mark]:
        """The requests since then that show new values."""
        return frozenset(mark for mark, _, is_new in self._fresh if is_new and mark >= since)

    def _settled(self) -> Counter[str]:
        """The usual values without those that came once, or too seldom to be usual."""
        seldom = self._seldom()
        settled = {
            value: count
            for value, count in self._usual.items()
            if count > seldom and value not in self._rolling
        }
        return Counter(settled or self._usual)

    def _seldom(self) -> float:
        """How often a value may have come and still be news.

        Once may be long ago, or a request that came late after a change.
        """
        return max(1, RARE_SHARE * len(self._past))

    def is_changing(self, since: Mark) -> bool:
        """Whether most requests since then show new values.

        Beside another change that is evidence enough: it is not chance.
        """
        newer = [entry for entry in self._fresh if entry[0] >= since]
        flags = [is_new and value not in self._rolling for _, value, is_new in newer]
        return sum(flags) >= max(2, 0.5 * len(flags)) and self._rare.usual < RESTLESS

    def renewed(self, since: Mark) -> Value:
        """Returns a dimension for which only the values since then are usual."""
        newer = [entry for entry in self._fresh if entry[0] >= since]
        gone = replaced(self._usual, {value for _, value, _ in newer}, len(newer))
        other = Value({value: at for value, at in self._known.items() if value not in gone})
        for mark, value, _ in newer:
            other._learn(value, mark)
        # How restless the dimension was stays known.
        other._rare = Rare(self._rare.before(since))
        if not all(is_new for _, _, is_new in newer[-WINDOW:]):
            # With the share that shows the new values: more of them are a change again.
            other._rolling = frozenset(value for _, value, is_new in newer if is_new)
            other._grown = Rare([is_new for _, _, is_new in newer])
            other._leaving = self._leaving | replaced(self._usual, other._rolling, len(newer))
        return other

    def known(self) -> Mapping[str, int]:
        """The values that were usual in the last days, with the time of their newest request."""
        return self._known

    def _learn(self, value: str, mark: Mark) -> None:
        self._past.append(value)
        self._usual[value] += 1
        if value in self._known or is_usual(self._usual[value], len(self._past)):
            self._known[value] = mark.time_unix_nano
            if len(self._known) > MOST_KNOWN:
                del self._known[min(self._known, key=self._known.__getitem__)]
        if len(self._past) > REFERENCE:
            old = self._past.popleft()
            self._usual[old] -= 1
            if not self._usual[old]:
                del self._usual[old]


def is_usual(count: int, requests: int) -> bool:
    """Whether a value that so many of the newest requests showed was usual among them."""
    return count > max(RARE_SHARE * requests, FEWEST)


def replaced(usual: Counter[str], values: Collection[str], requests: int) -> set[str]:
    """The usual values that do not come any more, though `requests` newer ones brought `values`.

    The first of all, and such as can be missed: a value that a few requests may lack by chance (a
    small tenant's prompt) is none of them.
    """
    first = usual.most_common(1)
    gone = {value for value, _ in first if value not in values}
    size = max(usual.total(), 1)
    return gone | {
        value
        for value, count in usual.items()
        if value not in values and (1 - count / size) ** requests < BY_CHANCE
    }


def _named(values: Counter[str]) -> str:
    """The most frequent value, and the number of others.

    >>> _named(Counter({"b": 2, "a": 9}))
    'a and 1 other'
    """
    if not values:
        return ""
    first = min(values, key=lambda value: (-values[value], value))
    more_values = len(values) - 1
    more = "" if not more_values else f" and {more_values} other{'s' if more_values > 1 else ''}"
    return f"{first}{more}"
