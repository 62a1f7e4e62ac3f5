"""Which failing answers are an incident's own: kinds that are more frequent than before. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

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
Shown: TypeAlias = tuple[str, str]
"""A rubric and a label; an empty label stands for low values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentWindow:
    """The time and routes of an incident. `signals` are what its findings name.

    `first` and `last` are in seconds since the epoch; no routes are all of the service. It began at
    `onset` most likely, and at `first` at the earliest; an onset of 0 is `first`. `change` says in
    words what changed then, empty where nothing is known. `usual` is the share (0..1) of answers
    that showed before what fails for the incident's time only.
    """

    incident_id: str
    service: str
    environment: str
    routes: frozenset[str]
    signals: frozenset[str]
    first: float
    last: float
    onset: float = 0.0
    change: str = ""
    usual: Mapping[Shown, float] = field(default_factory=dict)

    @property
    def begins(self) -> int:
        """The minute (seconds since the epoch) in which it most likely began."""
        return int(max(self.first, self.onset)) // 60 * 60

    def holds(self, failure: Failure) -> bool:
        """Whether an answer is of its routes and time."""
        return (
            (failure.service, failure.environment) == (self.service, self.environment)
            and (not self.routes or failure.route in self.routes)
            and self.first * NANOS <= failure.time_unix_nano <= self.last * NANOS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTraffic:
    """The requests of some routes before a window and in it, and how many failed before, by key.

    `requests` are those since the onset, `early` those of the window before it, by minute (seconds
    since the epoch).
    """

    failed_before: Mapping[Key, int]
    requests_before: int
    requests: int
    early: Mapping[int, int] = field(default_factory=dict)


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
        for failure in _own_of_kind(window, kind, same, before[kind], traffic)
    }
    return sorted(own.values(), key=lambda failure: (failure.time_unix_nano, failure.key))


def _own_of_kind(
    window: IncidentWindow, kind: Key, same: Sequence[Failure], before: int, traffic: RouteTraffic
) -> list[Failure]:
    """Those since the onset if they are more than before, and those that led up to it."""
    since = [each for each in same if _minute(each) >= window.begins]
    is_named = _names(window, kind, since)
    if not _is_more(len(since), before, traffic, is_named):
        return []
    early = Counter(minute for each in same if (minute := _minute(each)) < window.begins)
    most = MOST_NAMED if is_named else MOST_BACKGROUND
    rate = before / traffic.requests_before if traffic.requests_before else 0.0
    # What fails for the time of the incident only is in no count of failures before.
    shown = (window.usual.get((kind.rubric, label), 0.0) for label in (kind.label, ""))
    rate = max(rate, *shown)
    start = _start(window, early, {m: n * rate / most for m, n in traffic.early.items()})
    return [each for each in same if _minute(each) >= start]


def _start(window: IncidentWindow, failed: Mapping[int, int], usual: Mapping[int, float]) -> int:
    """The minute at or before the onset since which most failed beyond what is usual.

    An onset is found some minutes late where the first minutes were mild, or few were asked.
    """
    start, best, excess = window.begins, 0.0, 0.0
    for minute in range(window.begins - 60, int(window.first) // 60 * 60 - 60, -60):
        excess += failed.get(minute, 0) - usual.get(minute, 0.0)
        if excess > best:
            start, best = minute, excess
    return start


def _minute(failure: Failure) -> int:
    return failure.time_unix_nano // NANOS // 60 * 60


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
    """The key that stands for the failures, of those that the incident names if there are any.

    A rate that it names (refusals) says what is wrong with half of them or more; else it is what
    most of them fail, be it first or not: shorter answers use less of the prompt, too.
    """
    rated = [
        each for each in failures if _is_named(each, {name for name in signals if ":" in name})
    ]
    if rated and 2 * len(rated) >= len(failures):
        counts = Counter(map(key_of, rated))
        return max(counts, key=lambda key: (counts[key], key))
    counts = Counter(key_of(each) for each in failures if _is_named(each, signals))
    counts = counts or Counter(map(key_of, failures))
    shown = Counter(rubric for each in failures for rubric in each.rubrics)
    return max(counts, key=lambda key: (max(shown[key.rubric], counts[key]), counts[key], key))


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
