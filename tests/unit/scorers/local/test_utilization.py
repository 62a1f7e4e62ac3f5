"""Chunk utilization by meaning: only where words find nothing, and only where a bar is known."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from ragvigil.inference.outcome import Unavailable
from ragvigil.model.record import Absent, Document, RagRecord
from ragvigil.model.score import Kind, Layer
from scorers.local import utilization as module
from scorers.local.utilization import MOST_OF_CHUNK, MOST_SENTENCES, utilization

MONEY = "Card refunds need five working days to appear on the statement."
SHOP = "The shop in the harbour is closed on public holidays."
PARAPHRASE = "Your bank books the money back within about one week."


@dataclass
class Topics:
    """An embedding model of two topics: money and all else."""

    embedding_name: str = "MiniLM"
    embedding_version: str = "abc"
    read: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | Unavailable:
        self.read += texts
        is_money = [any(word in text for word in ("refund", "money")) for text in texts]
        return np.array([[float(yes), float(not yes)] for yes in is_money], np.float32)


def record(*chunks: str, answer: str = PARAPHRASE, question: str = "When?") -> RagRecord:
    context = tuple(Document(chunk_id=f"c{n}", content=text) for n, text in enumerate(chunks))
    return RagRecord(record_id="1", trace_id="1", query=question, context=context, answer=answer)


def test_the_examples_in_the_docstring_hold() -> None:
    assert doctest.testmod(module).failed == 0


def test_an_answer_in_other_words_uses_the_chunk_that_means_the_same() -> None:
    score = utilization(record(SHOP, f"{SHOP} {MONEY}"), Topics())
    assert (score.value, score.kind, score.layer) == (0.5, Kind.MODEL, Layer.RETRIEVAL)
    assert score.details["looked"] == "meaning"
    start = len(SHOP)  # a sentence begins with the space before it
    assert score.details["used"] == [
        {"chunk_id": "c1", "sentences": [1], "places": [[start, start + 1 + len(MONEY)]]}
    ]


def test_an_answer_that_repeats_a_sentence_is_not_embedded() -> None:
    model = Topics()
    score = utilization(record(MONEY, SHOP, answer=MONEY), model)
    assert (score.value, score.details["looked"], model.read) == (0.5, "words", [])


def test_what_means_something_else_is_not_used() -> None:
    score = utilization(record(SHOP), Topics())
    assert (score.value, score.explanation) == (0.0, "0 of 1 chunks used, by meaning")


def test_a_short_answer_is_read_after_its_question() -> None:
    model = Topics()
    assert utilization(record(MONEY, answer="One week.", question="When is money back?"), model)
    assert model.read[0] == "When is money back? One week."


@pytest.mark.parametrize(
    ("chunk", "answer"),
    [
        ("Das Geld ist nach fünf Werktagen wieder auf dem Konto des Kunden.", "Nach einer Woche."),
        (MONEY, "Das Geld ist nach einer Woche wieder auf deinem Konto."),
    ],
)
def test_in_a_language_whose_bar_is_unknown_nothing_is_said(chunk: str, answer: str) -> None:
    score = utilization(record(chunk, answer=answer), Topics())
    assert score.value is None


@pytest.mark.parametrize("model", [Topics(embedding_version=""), Topics(embedding_name="other")])
def test_without_a_known_model_nothing_is_said(model: Topics) -> None:
    assert utilization(record(MONEY), model).value is None


def test_absent_texts_are_named() -> None:
    blind = RagRecord(record_id="1", trace_id="1", absent={"context": Absent.NOT_SENT})
    assert utilization(blind, Topics()).absent == "context"


def test_the_sentences_of_a_record_are_bounded() -> None:
    model = Topics()
    long = " ".join(f"{SHOP} Number {n}." for n in range(500))
    utilization(record(*[long] * 20), model)
    assert len(model.read) <= MOST_SENTENCES + 1
    model.read.clear()
    utilization(record(long), model)
    assert len(model.read) == MOST_OF_CHUNK + 1
