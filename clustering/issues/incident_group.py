"""Which failing answers are an incident's own: kinds that are more frequent than before. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from clustering.issues.background_rate import LEAST_MEMBERS, Background, is_above
from clustering.issues.provisional import Key, key_of
from ragvigil.model.issue import Failure

NANOS = 10**9
CHANCE = 0.001
"""Keys of an incident are tested every minute while it is open."""
MOST_BACKGROUND = 0.25
"""A key that the incident does not name joins if at most this share of it failed before, too."""
MOST_NAMED = 0.5
"""The same of a key whose rubric or label the incident names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentWindow:
    """The time and routes of an incident. `signals` are what its findings name.

    `first` and `last` are in seconds since the epoch; no routes are all of the service. `change`
    says in words what changed then, empty where nothing is known.
    """

    incident_id: str
    service: str
    environment: str
    routes: frozenset[str]
    signals: frozenset[str]
    first: float
    last: float
    change: str = ""

    def holds(self, failure: Failure) -> bool:
        """Whether an answer is of its routes and time."""
        return (
            (failure.service, failure.environment) == (self.service, self.environment)
            and (not self.routes or failure.route in self.routes)
            and self.first * NANOS <= failure.time_unix_nano <= self.last * NANOS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTraffic:
    """The requests of some routes before a window and in it, and how many failed before, by key."""

    failed_before: Mapping[Key, int]
    requests_before: int
    requests: int


def own_failures(
    window: IncidentWindow, failures: Iterable[Failure], traffic: RouteTraffic
) -> list[Failure]:
    """The failures of the window whose kind is more frequent than before, oldest first.

    A rate that rose a little joins nothing: most of its answers would have failed anyhow.
    """
    by_kind: dict[Key, list[Failure]] = defaultdict(list)
    for failure in failures:
        if window.holds(failure):
            for kind in _kinds(key_of(failure)):
                by_kind[kind].append(failure)
    before = Counter[Key]()
    for key, count in traffic.failed_before.items():
        before.update(dict.fromkeys(_kinds(key), count))
    own = {
        failure.key: failure
        for kind, same in by_kind.items()
        if _is_more(len(same), before[kind], traffic, _names(window, kind, same))
        for failure in same
    }
    return sorted(own.values(), key=lambda failure: (failure.time_unix_nano, failure.key))


def _kinds(key: Key) -> list[Key]:
    """A key for each of its labels: an answer that fails in two ways is of both kinds."""
    return [replace(key, label=label) for label in {part.strip() for part in key.label.split(",")}]


class Counted(Protocol):
    """What a finding is about, on one route: counts before its onset and since."""

    @property
    def shown_before(self) -> int:
        """Records that showed it before."""
        ...

    @property
    def records_before(self) -> int:
        """All of that time."""
        ...

    @property
    def shown(self) -> int:
        """Records that showed it since."""
        ...

    @property
    def records(self) -> int:
        """All since."""
        ...


def is_more_frequent(counted: Counted) -> bool:
    """Whether a route that an incident does not name shows what it is about more often than before.

    Most of those that show it must be more than before: they are to join the incident's issue.
    """
    before = Background(failing=counted.shown_before, requests=counted.records_before)
    if not counted.records_before or not counted.records:
        return False
    expected = counted.shown_before * counted.records / counted.records_before
    return expected <= MOST_BACKGROUND * counted.shown and is_above(
        counted.shown, counted.records, before, chance=CHANCE
    )


def commonest(failures: Sequence[Failure], signals: Collection[str]) -> Key:
    """The key that stands for the failures: the commonest of those that the incident names."""
    named = [failure for failure in failures if _is_named(failure, signals)]
    counts = Counter(map(key_of, named or failures))
    return max(counts, key=lambda key: (counts[key], key))


def _is_more(count: int, before: int, traffic: RouteTraffic, is_named: bool) -> bool:
    requests = max(traffic.requests, count)
    expected = before * requests / traffic.requests_before if traffic.requests_before else 0.0
    most = MOST_NAMED if is_named else MOST_BACKGROUND
    background = Background(failing=before, requests=traffic.requests_before)
    return (
        count >= LEAST_MEMBERS
        and expected <= most * count
        and (is_named or is_above(count, requests, background, chance=CHANCE))
    )


def _names(window: IncidentWindow, kind: Key, failures: Sequence[Failure]) -> bool:
    return any(_is_named(replace(each, label=kind.label), window.signals) for each in failures)


def _is_named(failure: Failure, signals: Collection[str]) -> bool:
    labels = {part.strip() for part in failure.label.split(",")} | {"failed", ""}
    of_rubric = {f"{failure.rubric}:{label}".rstrip(":") for label in labels}
    return bool(of_rubric & set(signals)) or failure.kind.value in signals
