"""Every score of an answer as a row, and how many fail in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Layer, Score
from ragvigil.web.views.answers.checks import Check, checks, checks_heading, not_known
from tests.answers import record_form

USUAL = [0] * 16 + [40, 10, 0, 0, 50]
"""A hundred answers, none below 0.8."""


def rows(*scores: Score, usual: Any = None) -> tuple[Check, ...]:
    record = RagRecord(record_id="1", trace_id="1")
    bars = {"chunk_utilization": 0.0}
    return checks(record_form(record, scores, bars).scores, usual or {})


def score(rubric: str, value: float | None, **more: Any) -> Score:
    return Score(rubric=rubric, value=value, scorer="S", version="1", **more)


def test_what_fails_comes_first_and_what_does_not_apply_last() -> None:
    found = rows(
        score("context_recall", None, explanation="no golden case asks this"),
        score("refusal", None, label="answered"),
        score("citation_coverage", 1.0, layer=Layer.GENERATION),
        score("groundedness", None, absent="context", explanation="context is unknown"),
        score("citation_validity", 0.25, explanation="quote not found"),
    )
    assert [(row.words, row.state, row.says) for row in found] == [
        ("citation validity", "fails", "fails"),
        ("citation coverage", "passes", "passes"),
        ("refusal", "label", "answered"),
        ("groundedness", "unknown", "unknown"),
        ("context recall", "not applicable", "not applicable"),
    ]
    assert checks_heading(found) == "One check fails, one passes"
    assert not_known(found) == "1 of 5 checks could not see what they need."
    assert found[0].scorer == "S 1, code"


@pytest.mark.parametrize(
    ("label", "state", "says"),
    [
        ("override", "fails", "fails"),
        ("override,outside_prompt", "label", "override, outside prompt"),
    ],
)
def test_what_did_not_reach_the_prompt_fails_no_answer(label: str, state: str, says: str) -> None:
    (row,) = rows(score("citation_validity", 0.0, label=label))
    assert (row.state, row.says) == (state, says)


def test_a_value_that_is_rare_on_its_route_is_below_usual() -> None:
    low = score("chunk_utilization", 0.25)
    usual = {("chunk_utilization", "r1 S1"): USUAL}
    (row,) = rows(low, usual=usual)
    assert (row.state, row.usual) == ("below usual", "usually 0.80 to 1.00")
    assert checks_heading([row]) == "One is below usual"
    (row,) = rows(score("chunk_utilization", 0.8), usual=usual)
    assert row.state == "passes"
    (row,) = rows(low, usual={("chunk_utilization", "r1 S1"): [0] * 20 + [29]})
    assert (row.state, row.usual) == ("passes", "")


@pytest.mark.parametrize(
    ("scores", "heading"),
    [
        ([], "No check has read this answer yet"),
        ([score("a", None, absent="answer")], "No check could see what it needs"),
        ([score("a", 1.0)], "The check that applies passes"),
        ([score("a", 1.0), score("b", 0.9)], "Every check that applies passes"),
        (
            [score("a", 0.0), score("b", 0.0), score("c", 1.0), score("d", 1.0)],
            "Two checks fail, two pass",
        ),
    ],
)
def test_how_many_fail_is_the_heading(scores: list[Score], heading: str) -> None:
    assert checks_heading(rows(*scores)) == heading


def test_a_judges_verdicts_are_kept_and_a_quote_that_was_not_found_is_said() -> None:
    verdicts = [
        {"item": "c1", "grade": "supported", "text": "It takes 5 days.", "quote": "5 days"},
        {"item": "c2", "grade": "unsupported", "given": "supported", "reason": "<b>"},
        "odd",
    ]
    judged = score("groundedness", 0.5, kind=Kind.JUDGE, details={"verdicts": verdicts})
    first, second = rows(judged)[0].findings
    assert (first.grade, first.about, first.quote) == ("supported", "It takes 5 days.", "5 days")
    assert second.grade == "unsupported; its quote was not found, so “supported” does not count"
    assert (second.about, second.reason) == ("c2", "<b>")


@pytest.mark.parametrize(
    ("bar", "words"),
    [
        (
            {"below": 0.31, "of": "route", "share": 0.05, "answers": 812, "version": "v"},
            "the label is under 0.31: 5 % of 812 healthy answers of this route lie there",
        ),
        ({"below": 0.5, "of": "setting"}, "the label is under 0.50, as the settings say"),
        (
            {"below": 0.5, "of": "shipped"},
            "the label is on a sentence under 0.50, the shipped value",
        ),
    ],
)
def test_the_bar_of_a_local_models_label_is_said(bar: dict[str, Any], words: str) -> None:
    doubted = score(
        "groundedness", 0.2, kind=Kind.MODEL, label="unsupported", explanation="1 of 2 sentences",
        details={"bar": bar},
    )  # fmt: skip
    (row,) = rows(doubted)
    assert row.reason == f"1 of 2 sentences; {words}"
