"""How every route stands on every layer, and what is said of the whole."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragvigil.model.delta import BaselineKind, Moved
from ragvigil.model.finding import FindingKind
from ragvigil.model.score import Layer
from ragvigil.web.views.deltas import DeltaForm
from ragvigil.web.views.triage.layers import (
    Place,
    RouteRowForm,
    State,
    has_corpus_measure,
    route_rows,
    sight_sentence,
    table_sentence,
)
from tests.unit.ragvigil.web.views.triage.test_sentences import finding, incident

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ROUTE = "/refunds/ask"


def delta(rubric: str = "groundedness", **fields: object) -> DeltaForm:
    usual = {
        "service": "helpdesk", "environment": "demo", "route": ROUTE, "rubric": rubric,
        "layer": Layer.GENERATION, "segment": "r1", "kind": None, "tick": NOON, "closed": True,
        "window": "6h", "n": 60, "n_effective": 60.0, "failed": 0, "coverage": 1.0,
        "mean": 0.9, "baseline": 0.9,
        "baseline_kind": BaselineKind.SAME_HOURS, "baseline_n": 400, "delta": 0.0, "low": -0.03,
        "high": 0.03, "release_baseline": None, "release_delta": None, "release_low": None,
        "release_high": None, "overdispersion": 1.0, "detection_limit": 0.05,
        "sustained_drop": False, "moved": Moved.NO, "since": None, "hours": [],
    }  # fmt: skip
    return DeltaForm.model_validate({**usual, **fields})


def one(*deltas: DeltaForm, findings: tuple[object, ...] = ()) -> RouteRowForm:
    (row,) = route_rows(deltas, [], [incident(*findings)])  # type: ignore[arg-type]
    return row


FELL = {"moved": Moved.FELL, "delta": -0.2, "low": -0.25, "high": -0.15}
ROSE = {"moved": Moved.ROSE, "delta": 0.2, "low": 0.15, "high": 0.25}


@pytest.mark.parametrize(
    ("rubric", "fields", "state"),
    [
        ("groundedness", {}, State.HOLDS),
        ("groundedness", FELL, State.WORSE),
        ("groundedness", ROSE, State.BETTER),
        ("groundedness:failed", ROSE, State.WORSE),
        ("refusal:refused", ROSE, State.MOVED),
        ("chunk_utilization", FELL, State.MOVED),
        ("groundedness", {"delta": None, "low": None, "high": None}, State.UNKNOWN),
        ("groundedness", {"detection_limit": 0.4}, State.UNKNOWN),
    ],
)
def test_a_state_follows_from_the_interval_and_from_what_could_be_seen(
    rubric: str, fields: dict[str, object], state: State
) -> None:
    assert one(delta(rubric, **fields)).cells[Layer.GENERATION].state is state


def test_of_a_layer_the_rubric_that_moved_most_speaks_else_the_one_that_says_most() -> None:
    calm = delta("answer_relevance")
    assert one(calm, delta()).cells[Layer.GENERATION].rubric == "groundedness"
    fell = delta("answer_relevance", **FELL)
    assert one(delta(), fell).cells[Layer.GENERATION].rubric == "answer_relevance"
    unknown = delta(delta=None)
    assert one(unknown, calm).cells[Layer.GENERATION].rubric == "answer_relevance"


def test_what_an_open_finding_says_counts_also_where_the_mean_has_not_moved() -> None:
    rates = {"layer": Layer.CROSS_CUTTING}
    broken = one(delta("citation_validity", **rates), findings=(finding(),))
    assert broken.cells[Layer.CROSS_CUTTING].state is State.BROKEN
    over = one(delta("citation_validity", **rates), findings=(finding(cleared=NOON),))
    assert over.cells[Layer.CROSS_CUTTING].state is State.HOLDS
    audited = finding(FindingKind.AUDIT, signal="groundedness", layer=Layer.GENERATION)
    assert one(delta(), findings=(audited,)).cells[Layer.GENERATION].state is State.WORSE


def test_what_has_no_mean_is_shown_by_its_finding() -> None:
    errors = finding(signal="error", words="9 of 10 requests fail")
    cell = one(delta(), findings=(errors,)).cells[Layer.CROSS_CUTTING]
    assert (cell.state, cell.line, cell.delta) == (State.BROKEN, "9 of 10 requests fail", None)


def test_what_is_missing_is_said_in_answers() -> None:
    few = one(delta(n=36, detection_limit=0.18, delta=None)).cells[Layer.GENERATION]
    assert (few.needed, few.line) == (120, "36 of about 120 answers")
    many = one(delta(n=400, detection_limit=0.04, delta=None)).cells[Layer.GENERATION]
    assert many.line == "400 answers, no past to compare with yet"
    unseen = one(delta(n=3, detection_limit=None, delta=None)).cells[Layer.GENERATION]
    assert unseen.line == "3 answers, no past to compare with yet"


def test_a_route_without_scores_stands_in_the_table_too() -> None:
    rows = route_rows([delta(**FELL)], [Place("helpdesk", "demo", "/quiet")], [])
    assert [row.route for row in rows] == [ROUTE, "/quiet"]
    assert (rows[1].state, rows[1].answers_per_hour, rows[1].cells) == (State.UNKNOWN, None, {})


def test_the_sentence_counts_routes() -> None:
    def rows(*states: dict[str, object]) -> list[RouteRowForm]:
        deltas = [delta(route=f"/{place}", **each) for place, each in enumerate(states)]
        return route_rows(deltas, [], [])

    unknown: dict[str, object] = {"delta": None}
    assert table_sentence(rows({})) == "Every check holds"
    assert table_sentence(rows({}, {})) == "Every check holds on every route"
    layers = delta(), delta("chunk_utilization", layer=Layer.RETRIEVAL, delta=None)
    half = table_sentence(route_rows(layers, [], []))
    assert half == "Every check that can tell holds, one cannot tell yet"
    assert table_sentence(rows(FELL, {}, {})) == "One route is worse, two hold"
    some = route_rows([*layers, delta(route="/b", **FELL)], [], [])
    assert table_sentence(some) == "One route is worse, one holds, one check cannot tell yet"
    assert table_sentence(rows(FELL, ROSE, {}, unknown)) == (
        "One route is worse, one moved, one holds, one has not enough answers yet"
    )
    assert table_sentence(rows(unknown, unknown)) == "Two routes have not enough answers yet"


def test_what_would_be_seen_is_that_of_the_route_that_sees_least() -> None:
    rows = route_rows([delta(detection_limit=0.05), delta(route="/b", detection_limit=0.1)], [], [])
    assert sight_sentence(rows) == "A drop of 10 points in groundedness would show within 6 h."
    assert sight_sentence([]) == ""
    follows = [delta(detection_limit=0.05, visible_drop=0.03), delta(route="/b", visible_drop=0.06)]
    said = sight_sentence(route_rows(follows, [], []))
    assert said.endswith("A lasting drop of 3 to 6 points in groundedness would show.")


def test_the_corpus_is_measured_where_answers_are_compared_with_references() -> None:
    assert not has_corpus_measure([delta()])
    assert has_corpus_measure([delta("factual_accuracy", layer=Layer.CROSS_CUTTING)])


def test_a_verdict_of_the_judge_stands_where_the_mean_has_no_past() -> None:
    audited = finding(
        FindingKind.AUDIT, signal="groundedness", layer=Layer.GENERATION, value=0.35,
        reference=0.95, low=-0.73, high=-0.46, n=32,
    )  # fmt: skip
    cell = one(delta(n=7, delta=None), findings=(audited,)).cells[Layer.GENERATION]
    assert (cell.state, round(cell.delta or 0.0, 2)) == (State.WORSE, -0.6)
    assert cell.line == "the judge, on 32 pairs"


def test_a_series_of_the_local_model_does_not_hide_what_the_judge_scores() -> None:
    local = delta(segment="r1 local", is_judged=False, n=4000, mean=0.9)
    judged = delta(segment="r1 judge", is_judged=True, n=30, mean=0.4, delta=None)
    for deltas in ([local, judged], [judged, local]):
        cell = one(*deltas).cells[Layer.GENERATION]
        assert (cell.mean, cell.n) == (0.4, 30)
    assert one(local).cells[Layer.GENERATION].mean == 0.9


def test_a_finding_that_names_no_route_is_on_each() -> None:
    assert finding(routes=[]).is_on(ROUTE)
    assert finding(routes=["/other", ROUTE]).is_on(ROUTE)
    assert not finding(routes=["/other"]).is_on(ROUTE)
