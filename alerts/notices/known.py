"""The values that were usual on a route in the last days, from stored counts. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from alerts.notices.fingerprint import Place
from alerts.notices.rare import REFERENCE
from alerts.notices.values import is_usual, replaced
from ragvigil.model.notice import Notice

HOUR = 3600
NANOS = 10**9
Known = Mapping[str, Mapping[str, int]]
"""By kind: the usual values, each with the time of its newest request (nanoseconds)."""


class Hours(Protocol):
    """One value of a place: the hours in which it came (starts, seconds), and its requests there.

    An empty value stands for those that are not counted by name.
    """

    @property
    def place(self) -> Place: ...
    @property
    def kind(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def hours(self) -> Sequence[int]: ...
    @property
    def requests(self) -> Sequence[int]: ...


def known_values(
    stored: Iterable[Hours],
    notices: Mapping[Place, Sequence[Notice]],
    until: Mapping[Place, int],
) -> dict[Place, Known]:
    """What a detector that never stopped would know of each place before `until` (nanoseconds).

    `notices` are in order of time: values that a change replaced are forgotten.
    """
    counts: dict[tuple[Place, str], dict[int, Counter[str]]] = defaultdict(dict)
    for each in stored:
        end = until.get(each.place)
        for hour, requests in zip(each.hours, each.requests, strict=True):
            if end is None or (hour + HOUR) * NANOS <= end:
                by_value = counts[each.place, each.kind].setdefault(hour, Counter())
                by_value[each.value] += requests
    known: dict[Place, dict[str, Mapping[str, int]]] = defaultdict(dict)
    for (place, kind), hours in counts.items():
        known[place][kind] = _known_of(hours, notices.get(place, ()))
    return dict(known)


def _known_of(hours: Mapping[int, Counter[str]], notices: Sequence[Notice]) -> dict[str, int]:
    known: dict[str, int] = {}
    newest: deque[Counter[str]] = deque()
    pending = deque(notices)
    starts = sorted(hours)
    for place, hour in enumerate(starts):
        newest.append(hours[hour])
        usual = _of_reference(newest)
        size = usual.total()
        for value in hours[hour].keys() - {""}:
            if value in known or is_usual(usual[value], size):
                known[value] = (hour + HOUR) * NANOS
        while pending and pending[0].since_unix_nano < (hour + HOUR) * NANOS:
            notice = pending.popleft()
            if notice.since_unix_nano >= hour * NANOS:
                after = _values_of(hours[start] for start in starts[place + 1 :])
                for value in replaced(usual, after, notice.requests):
                    known.pop(value, None)
    return known


def _of_reference(newest: deque[Counter[str]]) -> Counter[str]:
    """The newest hours as the REFERENCE requests that a detector compares with.

    Older hours are dropped from `newest`.
    """
    while len(newest) > 1 and sum(map(Counter.total, newest)) - newest[0].total() >= REFERENCE:
        newest.popleft()
    whole: Counter[str] = sum(newest, Counter())
    share = min(1.0, REFERENCE / max(whole.total(), 1))
    return Counter({value: round(count * share) for value, count in whole.items()})


def _values_of(hours: Iterable[Counter[str]]) -> set[str]:
    """The values of the next requests, as many hours as bring REFERENCE of them."""
    values: set[str] = set()
    requests = 0
    for hour in hours:
        values |= hour.keys()
        requests += hour.total()
        if requests >= REFERENCE:
            break
    return values
