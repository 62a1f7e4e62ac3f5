"""Bars of labels are learned from healthy answers, stored, and used at the times they hold for."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pytest

from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from ragvigil.store.watch import incidents
from scorers import label_bars
from scorers.calibration.label_bar_job import LabelBarJob
from scorers.label_bars import LABELS, LabelBars
from scorers.rubric import house_rubrics
from scorers.settings import LABELLED, ScorersSettings
from tests.outcomes import NOW, SECOND, outcome_of

HOUR, DAY = 3600, 86_400
NOON = NOW // SECOND // HOUR * HOUR
RUBRIC = "groundedness"
FACTS = {name: RubricFacts(version=rubric.version) for name, rubric in house_rubrics().items()}
SCORE = Score(
    rubric=RUBRIC, value=0.5, label="unsupported", layer=Layer.GENERATION, kind=Kind.MODEL,
    scorer="LocalGroundedness", version="1", details={"sentences": []},
)  # fmt: skip
ASK = RagRecord(record_id="1", trace_id="1", service="helpdesk", environment="prod", route="/ask")


def fill(
    store: Store, values: list[float], *, at: int, route: str = "/ask", first: int = 0
) -> None:
    """Stores an answer a value, in one minute (seconds)."""
    rows = TraceRows(FACTS)
    for number, value in enumerate(values):
        outcome = outcome_of(first + number, route=route, time_unix_nano=at * SECOND)
        (record,) = outcome.records
        scored = replace(record, scores=(replace(SCORE, value=value),))
        rows.add(replace(outcome, records=(scored,)))
    rollups.recompute(store, store.write(rows.take()).minutes)


def job(store: Store, now: int = NOON, **settings: object) -> LabelBarJob:
    return LabelBarJob(store, ScorersSettings(**settings), clock=lambda: float(now))  # type: ignore[arg-type]


def bar(of: LabelBarJob, record: RagRecord = ASK, at: int = NOON + HOUR) -> object:
    return of.bars.labelled(SCORE, record, at * SECOND).details["bar"]


SPREAD = [0.3] * 4 + [0.6] * 46 + [0.9] * 50
"""Four of a hundred lie lowest: few enough."""


def test_doctests_hold() -> None:
    assert doctest.testmod(label_bars).failed == 0


def test_settings_know_the_rubrics_that_have_labels() -> None:
    assert sorted(LABELS) == list(LABELLED)


def test_the_bar_lies_over_five_per_cent_of_the_healthy_answers(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    labelling = job(store)
    assert labelling.learn() == 2  # of the route, and of the service
    assert bar(labelling) == {
        "below": 0.575, "of": "route", "share": 0.05, "answers": 100,
        "version": bar(labelling)["version"],  # type: ignore[index]
    }  # fmt: skip
    low, usual = (
        labelling.bars.labelled(replace(SCORE, value=value), ASK, (NOON + HOUR) * SECOND)
        for value in (0.3, 0.6)
    )
    assert (low.label, usual.label) == ("unsupported", "")


def test_five_of_a_hundred_are_too_many_for_the_promise_of_five_per_cent(store: Store) -> None:
    fill(store, [0.3] * 5 + [0.6] * 95, at=NOON - 2 * DAY)
    labelling = job(store)
    labelling.learn()
    assert bar(labelling)["below"] == 0.275  # type: ignore[index]


def test_a_route_with_few_answers_has_the_bar_of_its_service(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    fill(store, [0.6] * 20, at=NOON - 2 * DAY, route="/rare", first=500)
    labelling = job(store)
    labelling.learn()
    found = bar(labelling, replace(ASK, route="/rare"))
    assert (found["of"], found["answers"]) == ("service", 120)  # type: ignore[index]


@pytest.mark.parametrize(
    ("values", "age"), [(SPREAD[:99], 2 * DAY), (SPREAD, DAY - HOUR)], ids=["few", "young"]
)
def test_without_a_past_the_shipped_bar_holds(store: Store, values: list[float], age: int) -> None:
    fill(store, values, at=NOON - age)
    labelling = job(store)
    assert labelling.learn() == 0
    scored = labelling.bars.labelled(SCORE, ASK, NOON * SECOND)
    assert scored.details["bar"] == {"below": 0.5, "of": "shipped"}
    assert scored.label == SCORE.label


def test_answers_of_an_incident_teach_nothing(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    fill(store, [0.05] * 60, at=NOON - DAY - HOUR, first=500)
    finding = Finding(
        finding_id="f", kind=FindingKind.MOVED, service="helpdesk", environment="prod",
        routes=("/ask",), signal=RUBRIC, layer=Layer.GENERATION, words="it fell",
        since_unix_nano=(NOON - DAY - 2 * HOUR) * SECOND, seen_unix_nano=(NOON - DAY) * SECOND,
    )  # fmt: skip
    incident = Incident(
        incident_id="i", service="helpdesk", environment="prod", state=IncidentState.RESOLVED,
        severity=Severity.TICKET, opened_unix_nano=(NOON - DAY - HOUR) * SECOND,
        since_unix_nano=finding.since_unix_nano, resolved_unix_nano=(NOON - DAY) * SECOND,
        findings=(finding,),
    )  # fmt: skip
    with_it = job(store)
    with_it.learn()
    assert bar(with_it)["below"] == 0.025  # type: ignore[index]
    store.change("TRUNCATE TABLE label_bars")
    store.write(incidents.batch([incident], [("i", finding)], [], NOW))
    without = job(store)
    without.learn()
    assert (bar(without)["below"], bar(without)["answers"]) == (0.575, 100)  # type: ignore[index]


def test_a_start_finds_the_same_bars_and_a_day_later_there_are_new_ones(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    first = job(store)
    first.learn()
    again = job(store)
    assert again.learn() == 0
    assert again.bars == first.bars
    fill(store, [0.3] * 90, at=NOON - DAY, first=500)
    later = job(store, NOON + DAY + HOUR)
    assert later.learn() == 2
    # An answer of before the new bar has the old one, however late its spans come.
    assert bar(later)["below"] == 0.575  # type: ignore[index]
    assert bar(later, at=NOON + DAY + 2 * HOUR)["below"] == 0.275  # type: ignore[index]


def test_bars_are_learned_every_24_hours_by_a_job_that_runs_each_hour(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    late = NOON + HOUR - 60  # they hold an hour and a minute later
    job(store, late).learn()
    assert job(store, late + DAY - HOUR).learn() == 0
    assert job(store, late + DAY).learn() == 2


def test_a_bar_holds_from_the_next_hour_and_for_its_model_only(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    labelling = job(store)
    labelling.learn()
    assert bar(labelling, at=NOON + HOUR - 1)["of"] == "shipped"  # type: ignore[index]
    newer = replace(SCORE, version="2")
    found = labelling.bars.labelled(newer, ASK, (NOON + HOUR) * SECOND)
    assert found.details["bar"]["of"] == "shipped"  # type: ignore[index]


def test_a_bar_that_is_learned_just_before_an_hour_holds_from_the_one_after(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    labelling = job(store, NOON + HOUR - 60)
    labelling.learn()
    assert bar(labelling, at=NOON + HOUR)["of"] == "shipped"  # type: ignore[index]
    assert bar(labelling, at=NOON + 2 * HOUR)["of"] == "route"  # type: ignore[index]


def test_a_person_fixes_a_bar_or_keeps_the_shipped_ones(store: Store) -> None:
    fill(store, SPREAD, at=NOON - 2 * DAY)
    fixed = job(store, label_below={RUBRIC: 0.2})
    fixed.learn()
    assert bar(fixed) == {"below": 0.2, "of": "setting"}
    assert job(store, label_days=0).learn() == 0


def test_scores_of_others_stay_as_they_are() -> None:
    scores = (replace(SCORE, kind=Kind.JUDGE), replace(SCORE, value=None), Score(rubric="refusal"))
    assert LabelBars().label(scores, ASK, 0) == scores
