"""A live question is a golden one if it is near-identical; what differs in meaning never is."""

from __future__ import annotations

import doctest
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Kind
from scorers.golden import parse_case
from scorers.local import golden_questions as module
from scorers.local.golden_questions import GoldenQuestions, is_same_content

GOLDEN = "How long does a refund take?"
CASES = [
    parse_case({"question": GOLDEN, "gold_chunk_ids": ["a", "b"], "gold_answer": "It is 5 days."}),
    parse_case({"question": "How do I reset my password?", "gold_chunk_ids": ["z"]}),
]


class Near:
    """An embedding model in which all questions are as near as `cosine`."""

    embedding_name, embedding_version = "MiniLM", "abc"

    def __init__(self, cosine: float = 0.95, *, has_model: bool = True) -> None:
        self.cosine, self.has_model = cosine, has_model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | Unavailable:
        if not self.has_model:
            return Unavailable(reason=Reason.NO_MODEL, detail="no model")
        other = [self.cosine, (1 - self.cosine**2) ** 0.5]
        return np.array([[1.0, 0.0], *[other for _ in texts[1:]]], np.float32)


def asked(question: str) -> RagRecord:
    chunks = tuple(Document(chunk_id=name, content="It takes 5 days.") for name in ("x", "a"))
    return RagRecord(
        record_id="1", trace_id="1", query=question, retrieved=chunks, context=chunks,
        answer="It takes 5 days.",
    )  # fmt: skip


def test_the_examples_in_the_docstring_hold() -> None:
    assert doctest.testmod(module).failed == 0


def test_a_near_identical_question_has_the_scores_of_its_golden_case_and_says_so() -> None:
    scores = GoldenQuestions(CASES).scores(asked("Please, how long do refunds take?"), Near())
    values = {score.rubric: score.value for score in scores}
    assert values.pop("ndcg") == pytest.approx(0.3869, abs=1e-4)
    assert values == {
        "context_recall": 0.5, "recall_at_k": 0.5, "precision_at_k": 0.2, "mrr": 0.5,
        "context_entity_recall": 1.0, "noise_sensitivity": 1.0,
    }  # fmt: skip
    for score in scores:
        assert score.kind is Kind.CODE
        assert (score.details["matched"], score.details["golden"]) == ("meaning", GOLDEN)
        assert score.explanation.endswith(f"near-identical to {GOLDEN!r}")


@pytest.mark.parametrize(
    "question",
    [
        "How long does a refund take now?",  # more than empty words
        GOLDEN.upper(),  # known by its words: it has its scores
        "", "??", "Wie lange dauert das?",
    ],
)  # fmt: skip
def test_any_other_question_has_none(question: str) -> None:
    assert GoldenQuestions(CASES).scores(asked(question), Near()) == ()


@pytest.mark.parametrize("model", [Near(0.91), Near(has_model=False)])
def test_without_a_near_vector_there_is_no_match(model: Near) -> None:
    assert GoldenQuestions(CASES).scores(asked("How long do refunds take?"), model) == ()


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("How do I enable dark mode?", "How do I disable dark mode?"),
        ("Is shipping free over 50 euros?", "Is shipping free over 100 euros?"),
        ("Can I cancel my order?", "Can I not cancel my order?"),
        ("Can I cancel my order?", "Can't I cancel my order?"),
        ("When was the bridge opened?", "When was the bridge closed?"),
        ("Is Oslo larger than Rome?", "Is Rome larger than Oslo?"),
        ("Can I return it?", "Should I return it?"),
        ("What is the fee?", "What was the fee?"),
        ("How do I get from Rome to Oslo?", "How do I get from Oslo to Rome?"),
    ],
)
def test_questions_of_other_content_are_never_the_same(question: str, other: str) -> None:
    assert not is_same_content(question, other)
