"""What pages say of an incident, from its findings and from what changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ragvigil.model.finding import FindingKind
from ragvigil.model.incident import IncidentState, Severity
from ragvigil.model.notice import Cause, ChangeKind
from ragvigil.model.score import Layer
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.incidents import FindingForm, IncidentForm, SuspectForm
from ragvigil.web.views.triage.layers import CellForm, RouteRowForm, State
from ragvigil.web.views.triage.next_step import (
    clearest_cell,
    likeliest,
    next_step,
    put_back,
)
from ragvigil.web.views.triage.sentences import heading, main_finding, where, worse_by

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ROUTE = "/refunds/ask"


def finding(kind: FindingKind = FindingKind.BROKEN, **fields: object) -> FindingForm:
    usual = {
        "finding_id": "f1", "kind": kind, "routes": [ROUTE], "signal": "citation_validity:failed",
        "layer": Layer.CROSS_CUTTING, "causes": [Cause.GENERATION], "value": 0.93,
        "reference": 0.3, "low": 0.5, "high": 0.7, "n": 41, "since": NOON, "seen": NOON,
        "cleared": None, "traces": [], "words": "38 of 41 answers cite what is not there",
    }  # fmt: skip
    return FindingForm.model_validate({**usual, **fields})


def incident(*findings: FindingForm, **fields: object) -> IncidentForm:
    usual = {
        "incident_id": "i1", "service": "helpdesk", "environment": "demo",
        "state": IncidentState.OPEN, "severity": Severity.PAGE, "cause": Cause.GENERATION,
        "opened": NOON, "since": NOON, "paged": NOON, "resolved": None, "snoozed_until": None,
        "assignee": "", "is_false_page": False, "is_expected": False, "message": [],
        "findings": list(findings), "suspects": [],
    }  # fmt: skip
    return IncidentForm.model_validate({**usual, **fields})


def change(kind: str = "prompt", *, hours: float = 0.0, **fields: object) -> ChangeForm:
    usual = {
        "letter": "A", "id": "n1", "kind": kind, "time": NOON - timedelta(hours=hours),
        "words": "prompt v3 → v5", "routes": [ROUTE], "is_declared": False, "ids": ["n1"],
        "service": "helpdesk", "environment": "demo", "before": "v3", "after": "v5",
        "noticed": NOON, "requests": 12, "share": 1.0,
    }  # fmt: skip
    return ChangeForm.model_validate({**usual, **fields})


def suspect(notice_id: str = "n1") -> SuspectForm:
    return SuspectForm(
        notice_id=notice_id,
        kind=ChangeKind.PROMPT,
        route=ROUTE,
        since=NOON,
        share=1.0,
        before="v3",
        after="v5",
    )


def cell(state: State = State.BROKEN, **fields: object) -> CellForm:
    usual = {
        "layer": Layer.CROSS_CUTTING, "rubric": "citation_validity", "state": state, "words": "",
        "delta": -0.56, "low": -0.64, "high": -0.48, "mean": 0.44, "n": 60, "needed": 5,
        "detection_limit": 0.03, "since": NOON, "hours": [],
    }  # fmt: skip
    return CellForm.model_validate({**usual, **fields})


def row(*cells: CellForm) -> RouteRowForm:
    return RouteRowForm(
        service="helpdesk",
        environment="demo",
        route=ROUTE,
        answers_per_hour=24.0,
        cells={cell.layer: cell for cell in cells},
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Answers on /refunds/ask cite what stands in no chunk"),
        ({"signal": "error"}, "Requests to /refunds/ask fail"),
        ({"signal": "retrieval_shape:empty"}, "Retrieval on /refunds/ask returns nothing"),
        ({"kind": "drift", "signal": "groundedness"},
         "Answers on /refunds/ask claim what their chunks do not say"),
        ({"kind": "moved", "signal": "chunk_utilization", "value": 0.22, "reference": 0.36},
         "Chunk utilization on /refunds/ask fell by 14 points"),
        ({"kind": "moved", "signal": "groundedness", "value": 0.9, "reference": 0.8},
         "Groundedness on /refunds/ask rose by 10 points"),
        ({"kind": "moved", "signal": "groundedness:unsupported", "value": 0.3, "reference": 0.05},
         "Answers on /refunds/ask claim what their chunks do not say"),
        ({"kind": "moved", "signal": "answer_words", "value": 60.0, "reference": 80.0},
         "Answers on /refunds/ask are 25 % shorter"),
        ({"kind": "changed", "words": "prompt without a release: v3 -> v5"},
         "Prompt without a release: v3 -> v5 on /refunds/ask"),
        ({"routes": ["/a", "/b", "/c"]},
         "Answers on 3 routes of helpdesk cite what stands in no chunk"),
        ({"routes": [], "signal": "a_plugins_own"}, "A plugins own on all routes of helpdesk"),
    ],
)  # fmt: skip
def test_a_heading_says_what_is_wrong_and_where(fields: dict[str, object], words: str) -> None:
    assert heading(incident(finding(**fields))).startswith(words)  # type: ignore[arg-type]


def test_the_finding_that_harms_most_of_those_that_last_is_the_main_one() -> None:
    levels = {"value": 0.0, "reference": 1.0}
    audit = finding(FindingKind.AUDIT, finding_id="a", signal="groundedness", **levels)
    over = finding(FindingKind.AUDIT, finding_id="b", cleared=NOON)
    assert main_finding(incident(finding(), audit)) == audit
    assert main_finding(incident(finding(), over)) == finding()
    assert main_finding(incident()) is None
    assert heading(incident()) == "Something is worse on all routes of helpdesk"


def test_how_much_worse_is_said_by_the_mean_where_there_is_one() -> None:
    assert worse_by(finding(), cell()) == (
        "56 points of citation validity, to 0.44",
        "between 48 and 64, from 60 answers in 6 h",
    )
    assert worse_by(finding()) == ("93 % of 41 answers", "its ceiling is 30 %")
    assert worse_by(finding(value=None)) == ("not measured", "")
    drop = finding(
        FindingKind.DRIFT, signal="groundedness", value=0.64, reference=0.95, low=-0.4, high=-0.2
    )
    assert worse_by(drop) == (
        "31 points of groundedness, to 0.64",
        "between 20 and 40, from 41 answers",
    )
    rise = finding(FindingKind.DRIFT, value=0.42, reference=0.11)
    assert worse_by(rise)[0] == "31 points of answers that fail citation validity, to 0.42"


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("prompt", {}, "Put prompt v3 back on /refunds/ask"),
        ("llm_model", {"before": "small"}, "Put model small back on /refunds/ask"),
        ("index", {"before": ""}, "Put the index before back on /refunds/ask"),
        ("re-chunked", {}, "Bring the index from before back on /refunds/ask"),
        ("top_k", {"before": "8"}, "Set top k back to 8 on /refunds/ask"),
        ("documents_changed", {}, "Bring the documents from before back on /refunds/ask"),
        ("release", {"before": "1.3.0"}, "Roll helpdesk back to 1.3.0"),
        ("deploy", {"before": ""}, "Roll helpdesk back to the release before"),
        ("a kind of their own", {"before": ""}, "Roll helpdesk back to the release before"),
    ],
)
def test_every_kind_of_change_can_be_put_back(
    kind: str, fields: dict[str, object], words: str
) -> None:
    assert put_back(change(kind, **fields)) == words


def test_the_next_step_puts_the_change_back_and_says_when_it_would_show() -> None:
    step = next_step(incident(finding()), change(), None, row(cell()))
    assert step.words == "Put prompt v3 back on /refunds/ask"
    assert step.support == "it would show as better within 20 min"
    assert not step.is_expected


def test_where_nothing_got_worse_nothing_is_to_be_mended() -> None:
    moved = finding(FindingKind.MOVED, signal="answer_words", value=112.0, reference=80.0)
    ticket = incident(moved, severity=Severity.TICKET, paged=None)
    assert next_step(ticket, change(), None, row(cell(State.HOLDS))).is_expected
    assert not next_step(ticket, change(), None, row(cell(State.WORSE))).is_expected
    assert not next_step(incident(moved), change(), None, None).is_expected


def test_once_the_change_is_back_one_waits() -> None:
    fix = change(before="v5", after="v3", id="n2", hours=-1)
    assert next_step(incident(finding()), change(), fix, None).words == "Wait: v3 is back"


def test_without_a_change_one_reads_the_answers() -> None:
    step = next_step(incident(finding()), None, None, None)
    assert step.words.startswith("Read the answers below, then look at the prompt")


def test_a_suspect_is_the_likeliest_else_the_newest_change_before() -> None:
    old, new = change(id="old", ids=["old"], hours=9), change(id="new", ids=["new"], hours=2)
    other = change(id="other", ids=["other"], hours=1, routes=["/chat"])
    later = change(id="later", ids=["later"], hours=-1)
    every = [later, other, new, old]
    assert likeliest(incident(finding(), suspects=[suspect("old")]), every) == (old, True)
    assert likeliest(incident(finding()), every) == (new, False)
    assert likeliest(incident(finding()), [later, other]) == (None, False)


def test_routes_are_named_while_they_are_few() -> None:
    assert where(["/a", "/b"], "") == "/a and /b"
    assert where(["/a", "/b", "/c"], "") == "3 routes"
    assert where([""], "") == "all routes"


def test_the_mean_over_the_most_answers_shows_an_incident_best() -> None:
    judged = cell(State.WORSE, layer=Layer.GENERATION, rubric="groundedness", n=7, delta=None)
    every = cell(n=60)
    audit = finding(FindingKind.AUDIT, signal="groundedness")
    assert clearest_cell(incident(audit, finding()), row(judged, every)) == every
    assert clearest_cell(incident(audit), row(judged, every)) == judged
    assert clearest_cell(incident(audit), None) is None
