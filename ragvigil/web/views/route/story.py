"""How a route is doing, in sentences, and its rubrics in the order in which they are read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ragvigil.model.figures import (
    between,
    counted,
    in_points,
    listed,
    moment,
    score,
    sentence,
    spelled,
)
from ragvigil.model.score import Kind, Layer
from ragvigil.web.rubric_names import base_of, rubric_name
from ragvigil.web.scope import UNIT, Clock
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.deltas import DeltaForm
from ragvigil.web.views.incidents import FindingForm
from ragvigil.web.views.route.pairs import paired
from ragvigil.web.views.series import SeriesForm, newest_segments
from ragvigil.web.views.triage.layers import (
    RANKS,
    WINDOW_HOURS,
    CellForm,
    State,
    cell_of,
    newest_by_rubric,
)

NO_ROUTE = "(no route)"
LAYERS = (Layer.CROSS_CUTTING, Layer.GENERATION, Layer.RETRIEVAL)
HOLDS = {
    Layer.CROSS_CUTTING: "Citations and safety are as good as before",
    Layer.GENERATION: "The answers are as good as before",
    Layer.RETRIEVAL: "The chunks are as good as before",
}
SCORERS: Mapping[Kind | None, str] = {Kind.CODE: "code", Kind.MODEL: "a local model"}
NEAR = timedelta(minutes=90)
"""A change so long before or after the hour of an onset coincides with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricStory:
    """A rubric of the route: its series, and how it stands; `cell` is None before any comparison.

    `finding` says what an open incident holds against it. `scored_since` is where the series begins
    if another version scored the window's beginning. `local` is what a local scorer says of every
    answer, where a judge scores the series; `scorer` names it.
    """

    rubric: str
    layer: Layer
    series: SeriesForm
    cell: CellForm | None
    finding: str = ""
    scored_since: datetime | None = None
    local: CellForm | None = None
    scorer: str = ""

    @property
    def name(self) -> str:
        """Its name in words."""
        return rubric_name(self.rubric)

    @property
    def state(self) -> State:
        """Not enough yet where nothing can be compared."""
        return self.cell.state if self.cell else State.UNKNOWN

    @property
    def line(self) -> str:
        """What the comparison rests on, between what it lies, and what it would see."""
        if self.cell is None:
            return f"no answer was scored in the last {WINDOW_HOURS} h"
        line = _line(self.cell, self.finding)
        return f"by the judge: {line}" if self.local else line

    @property
    def local_line(self) -> str:
        """The same of the local scorer, and its mean, which has no chart; empty without one."""
        if self.local is None:
            return ""
        return f"by {self.scorer}, on every answer: {score(self.local.mean)}, {_line(self.local)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStory:
    """One rubric, or two that are read together, and what the pair says."""

    rubrics: tuple[RubricStory, ...]
    says: str

    @property
    def state(self) -> State:
        """The worst of them."""
        return min((rubric.state for rubric in self.rubrics), key=RANKS.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerStory:
    """A layer of the route: a sentence and its rubrics, what moved first.

    `waiting` are single rubrics that cannot be compared yet, beside others that can.
    """

    layer: Layer
    sentence: str
    pairs: tuple[PairStory, ...]
    waiting: tuple[RubricStory, ...]

    @property
    def waiting_words(self) -> str:
        """The rubrics that wait, in words."""
        names = listed([story.name for story in self.waiting], most=6)
        number = len(self.waiting)
        return sentence(f"{_rubrics(number)} cannot be compared yet: {names}")


def rubrics_of(
    series: Sequence[SeriesForm],
    findings: Sequence[FindingForm],
    local: Iterable[DeltaForm] = (),
) -> list[RubricStory]:
    """The rubrics of a route by name, each by the version that scored last.

    `local` are rows of local scorers beside those of judges.
    """
    beside = newest_by_rubric(local)
    newest = [each for each in newest_segments(series) if ":" not in each.rubric]
    stories = []
    for each in newest:
        has_others = any(
            other.rubric == each.rubric and other.segment != each.segment for other in series
        )
        begins = each.points[0].start if each.points else None
        own = beside.get(each.rubric)
        stories.append(
            RubricStory(
                rubric=each.rubric,
                layer=each.layer,
                series=each,
                cell=cell_of(each.delta, findings) if each.delta else None,
                finding=next(
                    (
                        finding.words
                        for finding in findings
                        if base_of(finding.signal) == each.rubric
                    ),
                    "",
                ),
                scored_since=begins if has_others else None,
                # Findings are about what the judge says.
                local=cell_of(own, ()) if own and own.segment != each.segment else None,
                scorer=SCORERS.get(own.kind, "a local scorer") if own else "",
            )
        )
    return stories


def layers_of(rubrics: Sequence[RubricStory]) -> list[LayerStory]:
    """The layers that are measured, the worst first; a pair stands in the layer of its first."""
    by_name = {story.rubric: story for story in rubrics}
    groups: dict[Layer, list[PairStory]] = {}
    for names, says in paired(by_name):
        stories = tuple(by_name[name] for name in names)
        groups.setdefault(stories[0].layer, []).append(PairStory(rubrics=stories, says=says))
    layers = [_layer(layer, groups[layer]) for layer in LAYERS if layer in groups]
    return sorted(layers, key=lambda each: min(map(_urgency, each.pairs)))


def _layer(layer: Layer, pairs: Sequence[PairStory]) -> LayerStory:
    known = [
        pair for pair in pairs if len(pair.rubrics) > 1 or pair.state is not State.UNKNOWN
    ] or pairs
    return LayerStory(
        layer=layer,
        sentence=layer_sentence(layer, [one for pair in pairs for one in pair.rubrics]),
        pairs=tuple(sorted(known, key=_urgency)),
        waiting=tuple(pair.rubrics[0] for pair in pairs if pair not in known),
    )


def _urgency(pair: PairStory) -> tuple[int, int]:
    """Alarms, then what moved, then the calm ones; of each, pairs before single rubrics."""
    calm = pair.state in (State.HOLDS, State.UNKNOWN)
    return (len(RANKS) if calm else RANKS.index(pair.state), -len(pair.rubrics))


def layer_sentence(layer: Layer, rubrics: Sequence[RubricStory]) -> str:
    """How a layer stands.

    What got worse or moved is named, else that all of it holds, else what is missing.
    """
    moved = [story for story in rubrics if story.state not in (State.HOLDS, State.UNKNOWN)]
    holds = [story for story in rubrics if story.state is State.HOLDS]
    unknown = len(rubrics) - len(moved) - len(holds)
    if moved:
        names = _moves(moved)
        rest = f", {_rubrics(len(holds))} {'hold' if len(holds) > 1 else 'holds'}" if holds else ""
        return sentence(f"{names}{rest}")
    if not holds:
        return "Not enough yet to say how it stands"
    if not unknown:
        return HOLDS[layer]
    return f"{HOLDS[layer]}, as far as {_rubrics(len(holds))} of {len(rubrics)} can tell"


def route_heading(
    route: str, rubrics: Sequence[RubricStory], now: datetime, window: str, clock: Clock = "utc"
) -> str:
    """How the route is doing, in a sentence; `window` is the time that is looked at, in words."""
    name = route or f"Answers {NO_ROUTE}"
    if not rubrics:
        return f"No answer came on {route or NO_ROUTE} in {window}"
    alarms = [story for story in rubrics if story.state.is_alarm]
    moved = [story for story in rubrics if story.state in (State.MOVED, State.BETTER)]
    known = [story for story in rubrics if story.state is not State.UNKNOWN]
    if alarms:
        return f"{name} is worse{_since(alarms, now, clock)}: {_moves(alarms)}{_holding(rubrics)}"
    if moved:
        is_better = all(story.state is State.BETTER for story in moved)
        verb = "is better" if is_better else "moved"
        return f"{name} {verb}{_since(moved, now, clock)}: {_moves(moved)}{_holding(rubrics)}"
    if not known:
        return f"{name} has not enough answers yet to say how it is doing"
    rest = len(rubrics) - len(known)
    none = (
        f"none of its {spelled(len(known))} rubrics moved" if len(known) > 1 else "it has not moved"
    )
    missing = f", {_rubrics(rest)} cannot tell yet" if rest else ""
    return f"{name} holds: {none}{missing}"


def route_lead(rubrics: Sequence[RubricStory], changes: Sequence[ChangeForm]) -> str:
    """By how much it moved and at which change; where it holds, what it would show."""
    moved = [
        story
        for story in rubrics
        if story.state not in (State.HOLDS, State.UNKNOWN) and story.cell and story.cell.delta
    ]
    if moved:
        moved.sort(key=lambda story: -abs(story.cell.delta or 0) if story.cell else 0)
        parts = [
            f"{story.name} {'fell' if delta < 0 else 'rose'} by {in_points(delta)}"
            for story in moved
            if story.cell and (delta := story.cell.delta)
        ]
        change = coincides(_onset(moved), changes)
        return sentence(
            f"{listed(parts, most=3)}{f', at change {change.letter}' if change else ''}."
        )
    limits = [
        story.cell.detection_limit
        for story in rubrics
        if story.state is State.HOLDS and story.cell and story.cell.detection_limit
    ]
    if not limits:
        return ""
    low, high = (round(100 * end) for end in (min(limits), max(limits)))
    drops = (
        f"{low} points, in other rubrics of up to {high}" if low < high else in_points(limits[0])
    )
    return f"Its last {WINDOW_HOURS} hours would show a drop of {drops}."


def coincides(onset: datetime | None, changes: Iterable[ChangeForm]) -> ChangeForm | None:
    """The change nearest to an onset, if one is near."""
    if onset is None:
        return None
    near = [change for change in changes if abs(change.time - onset) <= NEAR]
    return min(near, key=lambda change: abs(change.time - onset), default=None)


def rates_of(deltas: Iterable[DeltaForm]) -> list[DeltaForm]:
    """The shares of labels, by name."""
    return sorted(
        (delta for delta in deltas if ":" in delta.rubric), key=lambda delta: delta.rubric
    )


def _line(cell: CellForm, finding: str = "") -> str:
    """What a comparison rests on, between what it lies, and what it would see."""
    answers = f"{counted(cell.n, 'answer')} in {WINDOW_HOURS} h"
    if cell.delta is None:
        return f"{answers}; {finding or 'no past to compare with yet'}"
    parts = [answers, cell.basis] if cell.basis else [answers]
    if cell.state not in (State.HOLDS, State.UNKNOWN):
        direction = "lower" if cell.delta < 0 else "higher"
        parts.append(f"{between(cell.low, cell.high)} {direction}")
    if cell.detection_limit is not None:
        parts.append(f"sees {in_points(cell.detection_limit)}")
    return ", ".join([*parts, cell.lasting] if cell.lasting else parts)


def _moves(rubrics: Sequence[RubricStory]) -> str:
    """Names by what they did: fell or rose, or got worse as an audit or a ceiling says."""
    verbs: dict[str, list[str]] = {}
    for story in rubrics:
        change = story.cell.delta if story.cell else None
        verb = "got worse" if not change else "fell" if change < 0 else "rose"
        verbs.setdefault(verb, []).append(story.name)
    return ", ".join(f"{listed(names, most=3)} {verb}" for verb, names in verbs.items())


def _holding(rubrics: Sequence[RubricStory]) -> str:
    """The layers of which nothing moved and something is known."""
    states: dict[Layer, set[State]] = {}
    for story in rubrics:
        states.setdefault(story.layer, set()).add(story.state)
    holds = [
        str(layer).replace("_", "-")
        for layer in reversed(LAYERS)
        if State.HOLDS in states.get(layer, ()) and states[layer] <= {State.HOLDS, State.UNKNOWN}
    ]
    return f", {listed(holds)} {'hold' if len(holds) > 1 else 'holds'}" if holds else ""


def _since(rubrics: Sequence[RubricStory], now: datetime, clock: Clock) -> str:
    onset = _onset(rubrics)
    return f" since {moment(onset, now)}{UNIT[clock]}" if onset else ""


def _onset(rubrics: Iterable[RubricStory]) -> datetime | None:
    times = [story.cell.since for story in rubrics if story.cell and story.cell.since]
    return min(times, default=None)


def _rubrics(number: int) -> str:
    return f"{spelled(number)} rubric{'s' * (number != 1)}"


def rate_words(per_hour: float | None) -> str:
    """How many answers come, in words; empty where that is not known.

    >>> rate_words(24.2), rate_words(0.2), rate_words(None)
    ('24 answers an hour', 'fewer than one answer an hour', '')
    """
    if not per_hour:
        return ""
    if per_hour < 1:
        return "fewer than one answer an hour"
    return f"{counted(round(per_hour), 'answer')} an hour"


def answers_per_hour(rubrics: Iterable[RubricStory]) -> float | None:
    """Of the last hours, by the rubric that scored most answers; None where none did."""
    most = max((story.cell.n for story in rubrics if story.cell), default=0)
    return most / WINDOW_HOURS if most else None
