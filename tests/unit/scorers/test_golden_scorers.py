"""Scorers of golden questions alone: names and numbers retrieved, and noise in the answer."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from alerts.drift.sources import SHOWN_ONLY
from ragvigil.model.record import Document, RagRecord
from scorers import context_entity_recall, noise_sensitivity
from scorers.context_entity_recall import ContextEntityRecall, entities
from scorers.golden import parse_case
from scorers.noise_sensitivity import NoiseSensitivity
from scorers.ranking import RANKINGS
from scorers.runner import Runner

QUESTION = "How long is it?"
GOLD, NOISE = "Card refunds take five working days.", "Vouchers are sent within three weeks."
CASE = parse_case({"question": QUESTION, "gold_chunk_ids": ["a"], "gold_answer": "From Visa: 5."})


def record(answer: str, *chunks: tuple[str, str | None], question: str = QUESTION) -> RagRecord:
    documents = tuple(Document(chunk_id=name, content=text) for name, text in chunks)
    return RagRecord(
        record_id="1", trace_id="1", query=question, retrieved=documents, context=documents,
        answer=answer,
    )  # fmt: skip


@pytest.mark.parametrize("module", [context_entity_recall, noise_sensitivity])
def test_the_examples_in_the_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


def test_names_and_numbers_are_those_of_the_answer_else_of_the_gold_texts() -> None:
    assert entities(CASE) == ("visa", "5")
    bare = parse_case({"question": QUESTION, "gold_texts": ["It takes 7 days at the DHL office."]})
    assert entities(bare) == ("7", "dhl")


def test_a_chunk_without_a_text_may_have_the_name() -> None:
    score = ContextEntityRecall([CASE]).score(record("", ("a", None)))
    assert (score.value, score.absent) == (None, "document_texts")


@pytest.mark.parametrize(
    ("answer", "value"), [(GOLD, 1.0), (NOISE, 0.0), (f"{GOLD} {NOISE}", 0.5), ("No idea.", None)]
)
def test_noise_is_what_rests_on_no_gold_chunk(answer: str, value: float | None) -> None:
    scored = NoiseSensitivity([CASE]).score(record(answer, ("a", GOLD), ("b", NOISE)))
    assert scored.value == value


def test_a_duplicate_of_a_gold_chunk_is_no_noise() -> None:
    scored = NoiseSensitivity([CASE]).score(record(GOLD, ("b", GOLD), ("a", GOLD)))
    assert scored.value == 1.0


def test_without_a_gold_chunk_in_the_prompt_it_is_retrieval_that_failed() -> None:
    assert NoiseSensitivity([CASE]).score(record(NOISE, ("b", NOISE))).value is None


def test_other_questions_have_no_such_score() -> None:
    runner = Runner([ContextEntityRecall([CASE]), NoiseSensitivity([CASE])])
    assert runner.score_all(record(GOLD, ("a", GOLD), question="Who pays?")) == ()


def test_no_drift_is_sought_in_scores_of_golden_questions() -> None:
    assert {scorer.rubric for scorer in (*RANKINGS, ContextEntityRecall, NoiseSensitivity)} <= set(
        SHOWN_ONLY
    )
