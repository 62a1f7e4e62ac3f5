"""What an incident shows of single answers: by it they fail, for the time of the incident.

A refusal is no failure by itself, and a number without a bar is no grade. Where an incident
found that refusals or low values became frequent, the answers that show it are what it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.finding import FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.issue import MEASURES
from ragvigil.model.score import Kind, Score
from ragvigil.model.signal import USUAL_SHARE
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.model.finding import Finding
    from ragvigil.model.record import RagRecord
    from ragvigil.store.engine.store import Store

NANOS, DAY = 10**9, 86_400
FAILED = "failed"
"""The label of a signal that counts answers under a rubric's bar: they fail anyhow."""
ALL_ROUTES = "*"
LEAST_PAST = 100
"""Fewer values of before give no bar."""
MOST_EARLIER = 1800
"""Seconds before the likeliest onset in which answers may be of an incident already."""
BY_VALUE = frozenset({FindingKind.MOVED, FindingKind.LIMIT, FindingKind.AUDIT, FindingKind.DRIFT})
BY_ITSELF = frozenset({Kind.MODEL, Kind.CODE})
"""Scorers of every answer, or of an even sample: their values have a usual range."""
STEPS_A_DOUBLING, STEPS_A_UNIT = 6, 20
"""Places of a histogram: of a measure by its logarithm, of a rubric's values by twentieths."""
MOST = 1e300
"""Larger than any measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spike:
    """A label, or values of models and of code under `below`, that fail on a route for a time.

    `first` and `last` are minutes (seconds since the epoch), both included. The label is empty for
    values, the route is ALL_ROUTES for all. Of a measure (`MEASURES`) it is what is under `below`,
    or over `above`, and the label says which.
    """

    service: str
    environment: str
    route: str
    rubric: str
    label: str
    below: float
    first: int
    last: int
    above: float = MOST

    def holds(self, record: RagRecord, time_unix_nano: int) -> bool:
        """Whether an answer is of its route and time."""
        place = (record.service, record.environment)
        return (
            place == (self.service, self.environment)
            and self.route in (ALL_ROUTES, record.route)
            and self.first <= time_unix_nano // NANOS // 60 * 60 <= self.last
        )

    def shows(self, score: Score) -> bool:
        """Whether a score is what became frequent."""
        if score.rubric != self.rubric:
            return False
        if self.rubric in MEASURES:
            return score.label == self.label
        if self.label:
            return self.label in (part.strip() for part in score.label.split(","))
        return score.kind in BY_ITSELF and score.value is not None and score.value < self.below


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpike:
    """How many records of a route showed what a finding is about, before its onset and since."""

    route: str
    shown_before: int
    records_before: int
    shown: int
    records: int


def earliest(finding: Finding) -> int:
    """The minute (seconds since the epoch) in which a finding may have begun.

    An onset is an interval; one that goes on for hours says little, so MOST_EARLIER bounds it.
    """
    onset = finding.since_unix_nano // NANOS
    first = finding.earliest_unix_nano // NANOS or onset
    return max(min(first, onset), onset - MOST_EARLIER, 0) // 60 * 60


def by_route(store: Store, finding: Finding, last: int) -> list[RouteSpike]:
    """What a finding is about, on every route of its service until the minute `last`.

    Of values of local models and of code those count that lie under the bar of the route's own day
    before. Empty where no score shows the finding. Raises StoreError.
    """
    rubric, _, label = finding.signal.partition(":")
    if not label and finding.kind not in BY_VALUE:
        return []
    first = finding.since_unix_nano // NANOS // 60 * 60
    window = {
        "service": finding.service,
        "environment": finding.environment,
        "rubric": rubric,
        "label": label,
        "since": max(0, first - DAY),
        "first": first,
        "end": last + 60,
    }
    rows = store.read("spike_routes", window, priority=Priority.TICK)
    halves = {(row["route"], bool(row["is_during"])): row for row in rows}
    return [
        _route_spike(route, label, halves.get((route, False)), halves[route, True])
        for route, is_during in sorted(halves)
        if is_during
    ]


def _route_spike(
    route: str, label: str, before: Mapping[str, Any] | None, during: Mapping[str, Any]
) -> RouteSpike:
    bar = (bar_of(_counts(before)) or 0.0) if before else 0.0

    def of(half: Mapping[str, Any] | None) -> tuple[int, int]:
        if half is None:
            return 0, 0
        if label:
            name = "failing" if label == FAILED else "labelled"
            return int(half[name]), int(half["records"])
        counts = _counts(half)
        under = sum(count for place, count in enumerate(counts) if place / 20 < bar)
        return under, sum(counts)

    shown_before, records_before = of(before)
    shown, records = of(during)
    return RouteSpike(
        route=route,
        shown_before=shown_before,
        records_before=records_before,
        shown=shown,
        records=records,
    )


def _counts(row: Mapping[str, Any]) -> list[int]:
    return [int(count) for count in row["answers"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCounts:
    """How many answers of a route had each value of a rubric or measure, before and since.

    Places are twentieths, of a measure steps of its logarithm: see `value_at`.
    """

    route: str
    rubric: str
    before: tuple[int, ...]
    since: tuple[int, ...]

    def value_at(self, place: float) -> float:
        """The value at a place; a bar lies half a place above what is under it."""
        if self.rubric in MEASURES:
            return float(2 ** (place / STEPS_A_DOUBLING)) - 1
        return place / STEPS_A_UNIT


def of_labels(incident: Incident, last: int) -> list[Spike]:
    """The labels that an incident shows of single answers until the minute `last`."""
    spikes = []
    for finding in incident.findings:
        rubric, _, label = finding.signal.partition(":")
        if label and label != FAILED:
            first = earliest(finding)
            spikes += [
                Spike(
                    service=finding.service,
                    environment=finding.environment,
                    route=route,
                    rubric=rubric,
                    label=label,
                    below=0.0,
                    first=first,
                    last=max(first, last),
                )
                for route in [name for name in finding.routes if name] or [ALL_ROUTES]
            ]
    return spikes


def values(
    store: Store, service: str, environment: str, *, until: int, first: int, end: int
) -> list[ValueCounts]:
    """The values of code and local models on each route, of a day until then and of first..end.

    Times are minutes, in seconds since the epoch. Raises StoreError.
    """
    window = {
        "service": service,
        "environment": environment,
        "since": max(0, until - DAY),
        "until": until,
        "first": first,
        "end": end,
        "measures": list(MEASURES),
    }
    rows = store.read("spike_values", window, priority=Priority.TICK)
    halves = {(row["route"], row["rubric"], bool(row["is_since"])): _counts(row) for row in rows}
    return [
        ValueCounts(
            route=route,
            rubric=rubric,
            before=tuple(halves[route, rubric, False]),
            since=tuple(counts),
        )
        for (route, rubric, is_since), counts in sorted(halves.items())
        if is_since and (route, rubric, False) in halves
    ]


def parameters(spikes: Iterable[Spike]) -> dict[str, list[Any]]:
    """Parameters of the queries that ask what fails."""
    listed = list(spikes)
    scored = [spike for spike in listed if spike.rubric not in MEASURES]
    measured = [spike for spike in listed if spike.rubric in MEASURES]
    columns = ("service", "environment", "route", "rubric", "label", "first", "last", "below")
    return {f"spike_{name}s": [getattr(each, name) for each in scored] for name in columns} | {
        f"measure_{name}s": [getattr(each, name) for each in measured]
        for name in (*columns, "above")
    }


def bar_of(histogram: Sequence[int], least: int = LEAST_PAST) -> float | None:
    """The bar of counts by twentieths: the highest that few enough values lie under.

    None of fewer than `least` values. The bar is chosen by the values themselves, so one more of
    them counts as under it: then at most USUAL_SHARE of new values lie there on average (conformal
    risk control: Angelopoulos et al. 2022).

    >>> bar_of([0] * 10 + [4] + [0] * 5 + [96] + [0] * 4)
    0.775
    >>> bar_of([20, 80]), bar_of([1, 2])
    (0.0, None)
    """
    total, under, bar = sum(histogram), 0, 0.0
    if total < least:
        return None
    for place, count in enumerate(histogram):
        if under + 1 > USUAL_SHARE * (total + 1):
            break
        bar = max(0.0, (place - 0.5) / 20)
        under += count
    return bar
