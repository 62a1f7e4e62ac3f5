"""Verdicts on runs, the schedule of cases, and the composition of a set."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.golden.composition import FLOOR, composition
from clustering.golden.csv_table import from_csv, to_csv
from clustering.golden.json_paths import NotThere, built, find
from clustering.golden.schedule import HOUR, Change, cases_due
from clustering.golden.verdict import verdict
from ragvigil.model.golden import CaseRun, CaseState, ExpectedFact, GoldenCase, QueryType
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from scorers.golden import question_key

BARS = {"citation_validity": 1.0, "context_recall": 0.5, "groundedness": 0.5}
CASE = GoldenCase(
    case_id="c",
    question="How long?",
    expected_facts=(
        ExpectedFact(text="Refunds take 5 to 7 days"),
        ExpectedFact(text="Weekends count", is_vital=False),
    ),
)


def verdict_on(
    answer: str | None, *scores: Score, case: GoldenCase = CASE, error: str | None = None
):  # type: ignore[no-untyped-def]
    record = RagRecord(record_id="r", trace_id="t", query="How long?", answer=answer, error=error)
    return verdict(case, record, scores, BARS, question_key)


@pytest.mark.parametrize(
    ("answer", "is_pass"),
    [
        ("All refunds take between 5 to 7 business days.", True),
        ("Refunds take 15 to 17 days.", False),
        ("I do not know.", False),
        ("A refund needs 5 to 7 days.", None),
        (None, None),
    ],
)
def test_facts_are_stated_missing_or_said_otherwise(
    answer: str | None, is_pass: bool | None
) -> None:
    assert verdict_on(answer).is_pass is is_pass


def test_a_failing_rubric_fails_a_case_whatever_it_states() -> None:
    bad = Score(rubric="citation_validity", value=0.5, explanation="the quote stands in no chunk")
    result = verdict_on("Refunds take 5 to 7 days", bad)
    assert result.is_pass is False
    assert "the quote stands in no chunk" in result.why


def test_a_local_model_fails_nothing() -> None:
    low = Score(rubric="groundedness", value=0.1, kind=Kind.MODEL)
    assert verdict_on("Refunds take 5 to 7 days", low).is_pass is True


def test_an_error_fails() -> None:
    assert verdict_on(None, error="timeout").is_pass is False


def test_a_refusal_is_right_where_the_corpus_has_no_answer_and_wrong_elsewhere() -> None:
    nothing = GoldenCase(case_id="n", question="Shoe size?", failure_mode="no_answer")
    refused, answered = (Score(rubric="refusal", label=label) for label in ("refused", "answered"))
    assert verdict_on("I cannot say.", refused, case=nothing).is_pass is True
    assert verdict_on("It is 44.", answered, case=nothing).is_pass is False
    assert verdict_on("Refunds take 5 to 7 days", refused).is_pass is False


def test_a_found_gold_chunk_proves_a_case_without_facts() -> None:
    bare = GoldenCase(case_id="b", question="How long?", gold_chunk_ids=("a",))
    recall = Score(rubric="context_recall", value=1.0)
    assert verdict_on("Soon.", recall, case=bare).is_pass is True
    assert verdict_on("Soon.", case=bare).is_pass is None
    assert (
        verdict_on("Soon.", Score(rubric="context_recall", value=0.0), case=bare).is_pass is False
    )


SIGNED = GoldenCase(
    case_id="c", question="?", state=CaseState.SIGNED, service="desk", environment="prod",
    approved_unix_nano=10 * HOUR,
)  # fmt: skip


def ran(hour: int) -> dict[str, CaseRun]:
    return {"c": CaseRun(case_id="c", time_unix_nano=hour * HOUR, against="target", is_pass=False)}


@pytest.mark.parametrize(
    ("newest", "changes", "hour", "is_due"),
    [
        ({}, [], 10, True),
        (ran(9), [], 11, True),
        (ran(11), [], 34, False),
        (ran(11), [], 35, True),
        (ran(11), [Change("desk", "prod", 12 * HOUR)], 13, True),
        (ran(11), [Change("desk", "", 12 * HOUR)], 13, True),
        (ran(11), [Change("desk", "test", 12 * HOUR)], 13, False),
        (ran(11), [Change("shop", "prod", 12 * HOUR)], 13, False),
        (ran(13), [Change("desk", "prod", 12 * HOUR)], 14, False),
    ],
)
def test_a_signed_case_is_run_at_once_daily_and_after_a_change_of_its_service(
    newest: dict[str, CaseRun], changes: list[Change], hour: int, is_due: bool
) -> None:
    assert bool(list(cases_due([SIGNED], newest, changes, hour * HOUR, 24.0))) is is_due


def test_a_run_that_could_not_decide_is_repeated_for_an_hour_after_a_change() -> None:
    change = Change("desk", "prod", 12 * HOUR)
    (run,) = ran(12).values()
    minute = HOUR // 60
    for ran_at, now, is_due in ((1, 10, False), (1, 11, True), (50, 60, True), (61, 90, False)):
        at = 12 * HOUR + ran_at * minute
        newest = {"c": replace(run, time_unix_nano=at, is_pass=None)}
        due = cases_due([SIGNED], newest, [change], 12 * HOUR + now * minute, 24.0)
        assert bool(list(due)) is is_due


def test_a_case_that_passes_is_run_again_and_what_nobody_signed_never() -> None:
    every = [replace(SIGNED, state=state) for state in CaseState]
    due = cases_due(every, {}, [], 99 * HOUR, 24.0)
    assert [case.state for case in due] == [CaseState.SIGNED, CaseState.PASSING]


def cases(canonical: int, adversarial: int, failure: int) -> list[GoldenCase]:
    counts = zip(QueryType, (canonical, adversarial, failure), strict=True)
    return [
        GoldenCase(case_id=f"{name}{place}", question="?", query_type=name)
        for name, count in counts
        for place in range(count)
    ]


@given(*[st.integers(0, 300)] * 3)
def test_what_is_missing_completes_the_mix(canonical: int, adversarial: int, failure: int) -> None:
    parts = composition(cases(canonical, adversarial, failure)).parts
    after = [part.cases + part.missing for part in parts]
    whole = sum(after)
    assert whole >= FLOOR
    for part, count in zip(parts, after, strict=True):
        assert abs(count - part.aim * whole) <= 1.5


def test_a_mix_is_shares_and_their_origin() -> None:
    mix = composition([*cases(6, 2, 1), GoldenCase(case_id="p", question="?", trace_id="ab" * 16)])
    assert [part.share for part in mix.parts] == [0.6, 0.2, 0.2]
    assert mix.from_production == 0.1
    assert composition([]).parts[0].share is None


def test_paths_lead_into_a_reply_and_out_of_a_body() -> None:
    reply = {"data": {"text": "hi", "chunks": [{"id": "a"}, {"id": "b"}]}}
    assert find(reply, "data.text") == "hi"
    assert find(reply, "data.chunks[1].id") == "b"
    assert find(reply, "data.chunks[*].id") == ["a", "b"]
    for path in ("data.none", "data.chunks[2]", "data.text[0]", "data[*]"):
        with pytest.raises(NotThere):
            find(reply, path)
    with pytest.raises(ValueError, match="does not fit"):
        built({"a": "x", "a.b": "y"})
    with pytest.raises(ValueError, match="no single place"):
        built({"a[*].b": "y"})


def test_a_table_of_open_rag_eval_is_read_and_written() -> None:
    text = 'query_id,query,expected_answer\nq1,"How ""long"", really?",5 days\nq2,Why?,\n'
    assert list(from_csv(text)) == [
        (2, {"case_id": "q1", "question": 'How "long", really?', "gold_answer": "5 days"}),
        (3, {"case_id": "q2", "question": "Why?"}),
    ]
    table_cases = [
        GoldenCase(case_id="q1", question='How "long", really?', gold_answer="5 days"),
        GoldenCase(case_id="q2", question="Why?"),
    ]
    assert to_csv(table_cases) == text
