"""The pairs of an audit side by side: the judge's words, and which pairs come first."""

from __future__ import annotations

import pytest

from ragvigil.web.views.audits import AuditPairForm, AuditSideForm, AuditVerdictForm
from ragvigil.web.views.triage.pairs import (
    chunk_words,
    of_each_question,
    pair_views,
    verdict_words,
    worst_first,
)


def side(**values: float | None) -> AuditSideForm:
    return AuditSideForm(
        trace_id="t",
        record_id="r",
        route="/a",
        verdicts=[
            AuditVerdictForm(
                rubric=name, value=value, label="not_asked", scorer="judge", version="1"
            )
            for name, value in values.items()
        ],
    )


def pair(number: int, before: float | None, after: float | None) -> AuditPairForm:
    return AuditPairForm(
        number=number,
        likeness=0.9,
        before=side(groundedness=before),
        after=side(groundedness=after),
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"groundedness": 1.0}, "Every claim is supported by the chunks."),
        ({"groundedness": 0.0}, "No claim is supported by the chunks."),
        ({"groundedness": 0.5}, "50 % of the claims are supported by the chunks."),
        ({"groundedness": None}, "Groundedness: not asked."),
        ({"context_relevance": 0.7, "groundedness": 1.0},
         "Every claim is supported by the chunks; context relevance 0.70."),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_verdict_is_a_sentence(values: dict[str, float | None], words: str) -> None:
    assert verdict_words(side(**values)) == words


def test_the_pair_that_fell_most_is_first() -> None:
    pairs = [pair(1, 1.0, 0.9), pair(2, None, 0.0), pair(3, 1.0, 0.2), pair(4, 0.2, 1.0)]
    assert [each.number for each in worst_first(pairs)] == [3, 1, 2, 4]


def test_a_pair_of_which_no_answer_is_stored_is_left_out() -> None:
    assert pair_views([pair(1, 1.0, 0.0)], {}) == []


def test_chunks_that_only_one_prompt_held_are_counted() -> None:
    assert chunk_words(["a"], ["a"]) == "both prompts held the same chunk"
    assert chunk_words(["a"], ["b"]) == "no chunk is the same"
    assert chunk_words([], ["b"]) == ""


def test_pairs_of_other_questions_come_before_the_same_again() -> None:
    class Shown:
        def __init__(self, question: str) -> None:
            self.question = question

    views = [Shown("a"), Shown("a"), Shown("b")]
    chosen = of_each_question(views, 2)  # type: ignore[arg-type]
    assert [view.question for view in chosen] == ["a", "b"]
    assert len(of_each_question(views, 3)) == 3  # type: ignore[arg-type]
