"""How every route stands on every layer: the table of the page Now. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from math import ceil, log10
from typing import NamedTuple

from pydantic import BaseModel, Field

from ragvigil.model.delta import Moved
from ragvigil.model.figures import counted, duration, in_points, sentence, spelled
from ragvigil.model.finding import FindingKind
from ragvigil.model.score import Layer
from ragvigil.web.rubric_names import (
    CORPUS,
    FAILED,
    MAIN,
    NEUTRAL,
    base_of,
    is_about,
    rubric_name,
)
from ragvigil.web.views.deltas import DeltaForm, lasting_words
from ragvigil.web.views.incidents import FindingForm, IncidentForm

WINDOW_HOURS = 6
AIM = 0.10
"""The drop that a route should be able to show: what is missing for it is said in answers."""
LEAST_SIGHT = 0.20
"""Where only larger drops would show, nothing can be said to hold."""
SURE = frozenset({FindingKind.AUDIT, FindingKind.DRIFT})


class State(StrEnum):
    """A state as the page says it, the worst first."""

    BROKEN = "broken"
    WORSE = "worse"
    MOVED = "moved"
    BETTER = "better"
    HOLDS = "holding"
    UNKNOWN = "not enough yet"

    @property
    def is_alarm(self) -> bool:
        """Whether something got worse."""
        return self in (State.BROKEN, State.WORSE)


RANKS = tuple(State)


class Place(NamedTuple):
    """A route of a service."""

    service: str
    environment: str
    route: str


class CellForm(BaseModel):
    """A layer of a route, by the rubric that moved most, else by the one that says most."""

    layer: Layer
    rubric: str
    state: State
    words: str = Field(description="what found the change where no mean did; else empty")
    delta: float | None
    low: float | None
    high: float | None
    mean: float | None
    n: int
    basis: str = Field(
        default="", description="which share was judged, and how it stands for all; else empty"
    )
    needed: int | None = Field(
        description="about how many answers in 6 h would show a drop of 10 points; null if unknown"
    )
    detection_limit: float | None = Field(description="the smallest drop that would show")
    visible_drop: float | None = Field(
        default=None, description="the smallest drop that would page if it lasted a day"
    )
    since: datetime | None
    hours: list[float | None]

    @property
    def line(self) -> str:
        """How much it rests on, and what it would see; where that is too little, what is missing.

        A cell without a past says so: more answers alone do not help it.
        """
        if self.words:
            return self.words
        if self.state is not State.UNKNOWN:
            sees = f", sees {in_points(self.detection_limit)}" if self.detection_limit else ""
            return f"{counted(self.n, 'answer')}{sees}"
        if self.needed is not None and self.n < self.needed:
            return f"{self.n} of about {self.needed} answers"
        return f"{counted(self.n, 'answer')}, no past to compare with yet"

    @property
    def lasting(self) -> str:
        """The smallest lasting drop that would show, in words; empty without any."""
        return lasting_words(self.visible_drop)


class RouteRowForm(BaseModel):
    """A route with its layers; a layer that nothing measures has no cell."""

    service: str
    environment: str
    route: str
    answers_per_hour: float | None = Field(description="of the last 6 h; null without any")
    cells: dict[Layer, CellForm]

    @property
    def state(self) -> State:
        """The worst state of its layers; unknown only where all are."""
        states = [cell.state for cell in self.cells.values()]
        return min(states, key=RANKS.index, default=State.UNKNOWN)

    @property
    def unknown(self) -> int:
        """How many of its layers have not enough answers yet."""
        return sum(cell.state is State.UNKNOWN for cell in self.cells.values())

    @property
    def is_calm(self) -> bool:
        """Whether nothing of it moved."""
        return self.state in (State.HOLDS, State.UNKNOWN)


def route_rows(
    deltas: Iterable[DeltaForm], places: Iterable[Place], incidents: Collection[IncidentForm]
) -> list[RouteRowForm]:
    """The routes, the worst first, then as `places` has them: the busiest first.

    `deltas` are the newest of the 6 h window; `incidents` are open.
    """
    by_place: dict[Place, list[DeltaForm]] = defaultdict(list)
    for delta in deltas:
        by_place[Place(delta.service, delta.environment, delta.route)].append(delta)
    every = list(dict.fromkeys([*places, *by_place]))
    rows = [_row(place, by_place[place], findings_on(place, incidents)) for place in every]
    return sorted(rows, key=lambda row: RANKS.index(row.state) if not row.is_calm else len(RANKS))


def table_sentence(rows: Sequence[RouteRowForm]) -> str:
    """How the routes stand, in a sentence.

    >>> table_sentence([])
    'No route has answers yet'
    """
    if not rows:
        return "No route has answers yet"
    worse = sum(row.state.is_alarm for row in rows)
    moved = sum(not row.is_calm and not row.state.is_alarm for row in rows)
    holds = sum(row.state is State.HOLDS for row in rows)
    unknown = sum(row.state is State.UNKNOWN for row in rows)
    if holds == len(rows):
        return _all_hold(rows)
    parts = [
        _routes(worse, "is worse", "are worse"),
        _routes(moved, "moved", "moved"),
        _routes(holds, "holds", "hold"),
        _routes(unknown, "has not enough answers yet", "have not enough answers yet"),
    ]
    first, *rest = [part for part in parts if part]
    # The noun is said once: one route is worse, four hold.
    text = ", ".join([first, *(part.replace(" routes", "").replace(" route", "") for part in rest)])
    unsaid = sum(row.unknown for row in rows if row.state is not State.UNKNOWN)
    checks = f"{spelled(unsaid)} check{'s' * (unsaid > 1)}"
    more = f", {checks} cannot tell yet" if unsaid else ""
    return sentence(f"{text}{more}")


def _all_hold(rows: Sequence[RouteRowForm]) -> str:
    if unknown := sum(row.unknown for row in rows):
        return f"Every check that can tell holds, {spelled(unknown)} cannot tell yet"
    return "Every check holds on every route" if len(rows) > 1 else "Every check holds"


def _routes(number: int, of_one: str, of_many: str) -> str:
    if not number:
        return ""
    return f"{spelled(number)} route{'s' * (number > 1)} {of_one if number == 1 else of_many}"


def has_corpus_measure(deltas: Iterable[DeltaForm]) -> bool:
    """Whether anything tells if the documents are true."""
    return any(base_of(delta.rubric) == CORPUS and delta.n for delta in deltas)


def seconds_to_see(cell: CellForm, drop: float) -> float | None:
    """After how many seconds of such traffic a drop would show; None where that is not known.

    The detection limit falls with the root of the number of answers.
    """
    if not cell.detection_limit or not cell.n or drop <= 0:
        return None
    return WINDOW_HOURS * 3600 * (cell.detection_limit / drop) ** 2


def sight_sentence(rows: Sequence[RouteRowForm]) -> str:
    """What would be seen, and how soon: by the rubric that sees best, and by the one that least."""
    cells = [cell for row in rows for cell in row.cells.values() if cell.state is State.HOLDS]
    limits: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        if cell.detection_limit:
            limits[cell.rubric].append(cell.detection_limit)
    if not limits:
        return ""
    best = min(limits, key=lambda name: (max(limits[name]), name))
    least = max(limits, key=lambda name: (max(limits[name]), name))
    seconds = WINDOW_HOURS * 3600 * (max(limits[best]) / AIM) ** 2
    within = duration(ceil(seconds / 300) * 300)
    parts = [f"A drop of 10 points in {rubric_name(best)} would show within {within}."]
    if least != best:
        drops = _from_to(limits[least])
        parts.append(f"In {WINDOW_HOURS} h {rubric_name(least)} sees drops of {drops}.")
    visible = [cell.visible_drop for cell in cells if cell.rubric == least]
    if lasting := [drop for drop in visible if drop]:
        parts.append(f"A lasting drop of {_from_to(lasting)} in {rubric_name(least)} would show.")
    return " ".join(parts)


def _from_to(drops: Collection[float]) -> str:
    """The smallest and the largest of some drops, in points."""
    low, high = round(100 * min(drops)), round(100 * max(drops))
    return f"{low} to {in_points(max(drops))}" if low < high else in_points(max(drops))


def findings_on(
    place: Place, incidents: Iterable[IncidentForm], *, with_cleared: bool = False
) -> list[FindingForm]:
    """Open findings on this route; one of no route, or of several pooled, is on each of its own."""
    return [
        finding
        for incident in incidents
        if (incident.service, incident.environment) == (place.service, place.environment)
        for finding in incident.findings
        if with_cleared or finding.cleared is None
        if finding.is_on(place.route)
    ]


def _row(
    place: Place, deltas: Sequence[DeltaForm], findings: Sequence[FindingForm]
) -> RouteRowForm:
    newest = newest_by_rubric(deltas)
    cells = {}
    for layer in MAIN:
        of_layer = [delta for delta in newest.values() if delta.layer == layer and delta.n]
        candidates = [cell_of(delta, findings) for delta in of_layer]
        candidates += _unmeasured(Layer(layer), newest, findings)
        if candidates:
            cells[Layer(layer)] = min(candidates, key=_urgency)
    most = max((delta.n for delta in newest.values()), default=0)
    return RouteRowForm(
        **place._asdict(),
        answers_per_hour=most / WINDOW_HOURS if most else None,
        cells=cells,
    )


def newest_by_rubric(deltas: Iterable[DeltaForm]) -> dict[str, DeltaForm]:
    """One delta a rubric: what a judge scored, else what code or a local model did.

    Of several versions, the one with a past, then with the most answers. A local series goes on for
    the hours of the window after a judge has taken over, and must not hide what the judge says.

    The share of failing answers says the same as the mean beside it, and is left out.
    """
    newest: dict[str, DeltaForm] = {}
    for delta in deltas:
        known = newest.get(delta.rubric)
        if known is None or (_weight(delta) > _weight(known)):
            newest[delta.rubric] = delta
    return {
        name: delta
        for name, delta in newest.items()
        if not (name.endswith(FAILED) and base_of(name) in newest)
    }


def _weight(delta: DeltaForm) -> tuple[datetime, bool, bool, int]:
    return (delta.tick, bool(delta.is_judged), delta.delta is not None, delta.n)


def cell_of(delta: DeltaForm, findings: Iterable[FindingForm]) -> CellForm:
    """A rubric of a route: how its mean stands, and what open findings say of it."""
    about = [finding for finding in findings if is_about(finding.signal, delta.rubric)]
    cell = CellForm(
        layer=delta.layer,
        rubric=delta.rubric,
        state=_state(delta, about),
        words="",
        delta=delta.delta,
        low=delta.low,
        high=delta.high,
        mean=delta.mean,
        n=delta.n,
        basis=delta.basis,
        needed=_needed(delta),
        detection_limit=delta.detection_limit,
        visible_drop=delta.visible_drop,
        since=delta.since,
        hours=delta.hours,
    )
    return _with_verdict(cell, about)


def _with_verdict(cell: CellForm, findings: Iterable[FindingForm]) -> CellForm:
    """The cell with the change that an audit or a detector found, where no mean has one."""
    for finding in findings:
        is_known = finding.value is not None and finding.reference is not None
        if cell.delta is None and finding.kind in SURE and is_known:
            by = "pair" if finding.kind is FindingKind.AUDIT else "answer"
            return cell.model_copy(
                update={
                    "delta": (finding.value or 0.0) - (finding.reference or 0.0),
                    "low": finding.low,
                    "high": finding.high,
                    # The limit of the mean is not that of the pairs.
                    "detection_limit": None,
                    "words": f"the judge, on {counted(finding.n, by)}",
                }
            )
    return cell


def _state(delta: DeltaForm, findings: Sequence[FindingForm]) -> State:
    kinds = {finding.kind for finding in findings}
    if FindingKind.BROKEN in kinds:
        return State.BROKEN
    if kinds & SURE:
        return State.WORSE
    if delta.moved is not Moved.NO:
        return _moved(delta)
    if delta.delta is None or (delta.detection_limit or 1.0) > LEAST_SIGHT:
        return State.UNKNOWN
    return State.HOLDS


def _moved(delta: DeltaForm) -> State:
    """Which way it went; the rate of a label has no better way, that of failures is inverted."""
    base, _, label = delta.rubric.partition(":")
    if base in NEUTRAL or (label and f":{label}" != FAILED):
        return State.MOVED
    is_worse = (delta.moved is Moved.FELL) != bool(label)
    return State.WORSE if is_worse else State.BETTER


def _needed(delta: DeltaForm) -> int | None:
    """How many answers would show a drop of AIM, to two digits; None where that is not known."""
    if not delta.detection_limit or not delta.n:
        return None
    answers = delta.n * (delta.detection_limit / AIM) ** 2
    step: int = 10 ** max(int(log10(max(answers, 1))) - 1, 0)
    return ceil(answers / step) * step


def _unmeasured(
    layer: Layer, newest: Mapping[str, DeltaForm], findings: Iterable[FindingForm]
) -> list[CellForm]:
    """Broken signals that have no mean: requests that fail, requests that are slow."""
    return [
        CellForm(
            layer=layer,
            rubric=finding.signal,
            state=State.BROKEN,
            words=finding.words,
            delta=None,
            low=None,
            high=None,
            mean=None,
            n=finding.n,
            needed=None,
            detection_limit=None,
            since=finding.since,
            hours=[],
        )
        for finding in findings
        if finding.kind is FindingKind.BROKEN
        and finding.layer == layer
        and not any(is_about(finding.signal, rubric) for rubric in newest)
    ]


def _urgency(cell: CellForm) -> tuple[int, float, int]:
    """What moved comes first, the widest move first; then the rubric that says most."""
    main = MAIN[cell.layer]
    rank = main.index(cell.rubric) if cell.rubric in main else len(main)
    is_calm = cell.state in (State.HOLDS, State.UNKNOWN)
    return (RANKS.index(cell.state), 0.0 if is_calm else -abs(cell.delta or 0.0), rank)
