"""A case and its line convert without loss, and scorers read the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.golden.case import BadCase, as_json, line, parse
from clustering.golden.content import content_hash, lacks
from ragvigil.model.golden import CaseState, ExpectedFact, GoldenCase, QueryType
from scorers.golden import parse_case, question_key, read_golden

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=30)
TEXT = WORDS.filter(lambda text: bool(text.strip()))
CASES = st.builds(
    GoldenCase,
    case_id=st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True),
    question=TEXT,
    gold_chunk_ids=st.lists(TEXT.map(str.strip), max_size=3).map(tuple),
    gold_texts=st.lists(TEXT, max_size=3).map(tuple),
    gold_answer=st.one_of(st.just(""), TEXT),
    expected_facts=st.lists(
        st.builds(ExpectedFact, text=TEXT, is_vital=st.booleans()), max_size=3
    ).map(tuple),
    tags=st.lists(TEXT, max_size=3, unique=True).map(tuple),
    query_type=st.sampled_from(QueryType),
    trace_id=st.one_of(st.just(""), st.just("ab" * 16)),
    revision=st.integers(0, 99),
    proposed_by=st.one_of(st.just(""), TEXT),
    proposed_unix_nano=st.integers(0, 2**62),
    edited_by=st.lists(TEXT, max_size=2).map(tuple),
    content_hash=st.one_of(st.just(""), st.just("cd" * 32)),
    more=st.dictionaries(st.just("owner"), st.one_of(TEXT, st.lists(st.integers()), st.none())),
)
REFUNDS = GoldenCase(
    case_id="c1",
    question="How long does a refund take?",
    gold_chunk_ids=("refund-02",),
    gold_texts=("Refunds take 5 to 7 days.",),
    gold_answer="5 to 7 days.",
    expected_facts=(
        ExpectedFact(text="It takes 5 to 7 days."),
        ExpectedFact(text="Weekends do not count.", is_vital=False),
    ),
    tags=("edge", "refunds"),
    query_type=QueryType.FAILURE,
    trace_id="ab" * 16,
)


@given(CASES)
def test_a_case_comes_back_from_its_line(case: GoldenCase) -> None:
    assert "\n" not in line(case)
    assert parse(json.loads(line(case))) == case


def test_scorers_read_what_we_write(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(line(REFUNDS) + "\n", encoding="utf-8")
    case = read_golden(path)[question_key("how long does a refund TAKE")]
    assert [(gold.chunk_id, gold.text) for gold in case.gold] == [
        ("refund-02", "Refunds take 5 to 7 days.")
    ]
    assert [(fact.text, fact.is_vital) for fact in case.facts] == [
        ("It takes 5 to 7 days.", True),
        ("Weekends do not count.", False),
    ]
    assert (case.gold_answer, case.slice, case.query_type) == ("5 to 7 days.", "edge", "failure")


@given(CASES)
def test_what_lacks_nothing_is_read_by_scorers(case: GoldenCase) -> None:
    if not list(lacks(case, question_key)):
        assert parse_case(as_json(case)).question == case.question


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ([], "not a JSON object"),
        ({"question": 7}, "question: 7 is not a text"),
        ({"gold_chunk_ids": [True]}, "gold_chunk_ids: True is not an id"),
        ({"tags": "edge"}, "tags: 'edge' is not a list"),
        ({"query_type": "silly"}, "query_type: 'silly' is not one of canonical"),
        ({"expected_facts": [{"fact": "x", "importance": "high"}]}, "importance"),
        ({"revision": -1}, "revision: -1 is not a whole number"),
        ({"owner": float("nan")}, "owner: cannot be kept"),
    ],
)
def test_what_is_no_case_is_named(written: object, why: str) -> None:
    with pytest.raises(BadCase, match=why):
        parse(written)


def test_the_hash_covers_what_is_asked_and_not_who_signed() -> None:
    before = content_hash(REFUNDS)
    signed = replace(
        REFUNDS, approved_by="bob", approved_unix_nano=9, state=CaseState.SIGNED, revision=4,
        edited_by=("eve",), content_hash="x",
    )  # fmt: skip
    assert content_hash(signed) == before
    for changed in (
        replace(REFUNDS, question="How long does a refund take"),
        replace(REFUNDS, tags=()),
        replace(REFUNDS, expected_facts=REFUNDS.expected_facts[:1]),
        replace(REFUNDS, trace_id="cd" * 16),
        replace(REFUNDS, more={"owner": "eve"}),
    ):
        assert content_hash(changed) != before


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (GoldenCase(case_id="c", question="…"), "question: is missing"),
        (GoldenCase(case_id="c", question="How long?"), "nothing says what a good answer needs"),
        (replace(REFUNDS, gold_texts=("!!",)), "gold_texts: one has no words"),
        (replace(REFUNDS, gold_answer="a\x00b"), "holds what is no text"),
        (replace(REFUNDS, gold_answer="\ud800"), "holds what is no text"),
        (replace(REFUNDS, gold_answer="a" * 30_000), "is longer than"),
    ],
)
def test_what_a_case_lacks_is_named(case: GoldenCase, why: str) -> None:
    assert any(why in lack for lack in lacks(case, question_key))


def test_a_question_without_an_answer_needs_no_gold() -> None:
    case = GoldenCase(
        case_id="c", question="What is the CEO's shoe size?", failure_mode="no_answer"
    )
    assert list(lacks(case, question_key)) == []
