"""Small sentences of an answer's page, its spans, and what it is part of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.record import Feedback, RagRecord
from ragvigil.model.score import Layer, Score
from ragvigil.web.views.answers.page import feedback_words, links, why_no_answer
from ragvigil.web.views.answers.related import change_words, is_of
from ragvigil.web.views.answers.spans import (
    SHOWN,
    SpanForm,
    chosen_span,
    raw_attributes,
    span_facts,
    spans_heading,
)
from ragvigil.web.views.records import RecordForm
from tests.answers import record_form

SECOND = 10**9
NOON = 1_800_000_000


def span(span_id: str, kind: str = "chain", **more: Any) -> SpanForm:
    values: dict[str, Any] = {
        "span_id": span_id, "parent_id": "", "name": span_id, "kind": kind, "service": "desk",
        "start": datetime.fromtimestamp(NOON, UTC), "seconds": 1.0, "failed": False, "message": "",
        "scope": "", "attributes": {}, "resource": {}, "events": [],
    }  # fmt: skip
    return SpanForm.model_validate(values | more)


def answer(at: int = NOON, *, fails: bool = True, **more: Any) -> RecordForm:
    record = RagRecord(
        record_id="1", trace_id="t", route="/ask", service="desk", environment="prod",
        ended_unix_nano=at * SECOND, **more,
    )  # fmt: skip
    return record_form(record, [Score(rubric="citation_validity", value=float(not fails))])


def test_what_users_said_is_in_words() -> None:
    said = (
        Feedback(kind="thumbs", value=0.0, comment="wrong <b>"),
        Feedback(kind="thumbs", value=1.0),
        Feedback(kind="rating", value=0.25),
        Feedback(kind="escalation"),
    )
    assert feedback_words(answer(feedback=said).feedback) == [
        "thumbs down: “wrong <b>”", "thumbs up", "rating, 25 %", "escalation",
    ]  # fmt: skip


def test_other_tools_are_linked_by_the_ids_alone() -> None:
    open_in = {"Tempo": "https://t.example/{trace_id}?span={span_id}"}
    assert links(open_in, "ab", "cd") == [("Tempo", "https://t.example/ab?span=cd")]


@pytest.mark.parametrize(
    ("kinds", "why"),
    [
        ([], "Its spans are past their retention, so what it held is not known."),
        (["server"], "No span of it says that a model answered."),
        (["llm"], "A model answered, and no span says that chunks were retrieved for it."),
        (
            ["llm", "retriever"],
            "A model answered and chunks were retrieved, but not for one answer.",
        ),
    ],
)
def test_a_trace_says_why_it_has_no_answer(kinds: list[str], why: str) -> None:
    assert why_no_answer([span(kind, kind) for kind in kinds]) == why


def test_the_span_that_says_most_is_shown_first() -> None:
    spans = [span("a"), span("b", "llm"), span("c", failed=True)]
    assert chosen_span([], "") is None
    ids = [(chosen_span(spans[:place], "") or span("")).span_id for place in (1, 2, 3)]
    assert ids == ["a", "b", "c"]
    chosen = chosen_span(spans, "a")
    assert chosen is not None
    assert chosen.span_id == "a"
    assert spans_heading(spans) == "1 of 3 spans failed"
    assert spans_heading(spans[:2]) == "The model took 1 s of 1 s"
    assert spans_heading(spans[:1]) == "1 span in 1 s"
    assert spans_heading([]) == "The spans are no longer stored"


def test_the_facts_of_a_span_come_from_any_convention() -> None:
    model = span(
        "a", "llm",
        attributes={
            "llm.model_name": "m", "gen_ai.usage.input_tokens": "361",
            "llm.token_count.completion": "not a number", "long": "x" * (SHOWN + 1),
        },
    )  # fmt: skip
    facts = dict(span_facts(model, [model]))
    assert (facts["took"], facts["model"], facts["prompt"]) == ("1 s, 100 %", "m", "361 tokens")
    assert "answer" not in facts
    raw = dict(raw_attributes(model))
    assert raw["long"] == "x" * SHOWN + "… and 1 character more"


def incident(**more: Any) -> Incident:
    finding = Finding(
        finding_id="f", kind=FindingKind.MOVED, service="desk", environment="prod",
        routes=("/ask",), signal="citation_validity", layer=Layer.CROSS_CUTTING,
        since_unix_nano=(NOON - 60) * SECOND,
        **{name: more.pop(name) for name in ("traces",) if name in more},
    )  # fmt: skip
    values: dict[str, Any] = {
        "incident_id": "i", "service": "desk", "environment": "prod", "findings": (finding,),
        "state": IncidentState.OPEN, "severity": Severity.PAGE, "opened_unix_nano": NOON * SECOND,
        "since_unix_nano": (NOON - 60) * SECOND,
    }  # fmt: skip
    return Incident(**(values | more))


def test_a_failing_answer_is_part_of_the_incident_of_its_route_and_time() -> None:
    assert is_of(incident(), answer())
    assert not is_of(incident(), answer(fails=False))
    assert not is_of(incident(), answer(NOON - 120))
    assert not is_of(incident(environment="test"), answer())
    assert not is_of(incident(resolved_unix_nano=(NOON - 30) * SECOND), answer())
    elsewhere = answer().model_copy(update={"route": "/other"})
    assert not is_of(incident(), elsewhere)
    assert is_of(incident(traces=("t",)), elsewhere)


def test_what_changed_between_two_answers_is_the_first_that_differs() -> None:
    old = answer().model_copy(update={"dimensions": {"prompt_version": "v3", "llm_model": "a"}})
    new = answer().model_copy(update={"dimensions": {"prompt_version": "v5", "llm_model": "b"}})
    assert change_words(old, new) == "prompt v3 → v5"
    assert change_words(old, old) == ""
