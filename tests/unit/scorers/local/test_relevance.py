"""Relevance by meaning: which texts are embedded, how they are averaged, what is not scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.record import Absent, Document, RagRecord
from ragvigil.model.score import Kind, Layer
from scorers.local.relevance import (
    MOST_CHARACTERS,
    MOST_CHUNKS,
    PIECE_BYTES,
    answer_relevance,
    context_relevance,
    pieces,
    relevance,
)

NEAR, FAR = "refund", "weather"


@dataclass
class Keywords:
    """A simple embedding model: an angle by the share of words that are about refunds."""

    embedding_name: str = "keywords"
    embedding_version: str = "abc"
    read: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | Unavailable:
        self.read += texts
        return np.array([self.row(text.split()) for text in texts], np.float32)

    def row(self, words: list[str]) -> list[float]:
        share = sum(word == NEAR for word in words) / max(1, len(words))
        return [math.sin(share * math.pi / 2), math.cos(share * math.pi / 2)]


def record(*chunks: str | None, answer: str | None = NEAR) -> RagRecord:
    retrieved = tuple(Document(chunk_id=str(n), content=text) for n, text in enumerate(chunks))
    return RagRecord(record_id="1", trace_id="1", query=NEAR, retrieved=retrieved, answer=answer)


def test_the_score_is_the_mean_over_the_nearest_chunks_and_each_is_in_the_details() -> None:
    score = context_relevance(record(NEAR, FAR, NEAR, FAR), Keywords())
    assert score.value == pytest.approx(0.5, abs=1e-6)
    assert score.details["chunks"] == [
        {"chunk_id": "0", "relevance": 1.0},
        {"chunk_id": "1", "relevance": 0.0},
        {"chunk_id": "2", "relevance": 1.0},
        {"chunk_id": "3", "relevance": 0.0},
    ]
    assert context_relevance(record(*[NEAR] * 5, *[FAR] * 15), Keywords()).value == 1.0


@pytest.mark.parametrize(
    ("shown", "value"), [(1, 1.0), (2, 1.0), (4, 0.5), (8, 0.4), (0, 0.4)], ids=str
)
def test_as_many_chunks_count_as_reached_the_prompt_at_most_five(shown: int, value: float) -> None:
    fetched = record(FAR, NEAR, FAR, NEAR, *[FAR] * 4)
    shortened = replace(fetched, context=fetched.retrieved[:shown])
    assert context_relevance(shortened, Keywords()).value == pytest.approx(value, abs=1e-6)


def test_chunks_about_something_else_have_a_label_where_the_bar_of_the_model_is_known() -> None:
    packaged = Keywords(embedding_name="MiniLM")
    assert context_relevance(record(FAR, FAR, FAR), packaged).label == "none_relevant"
    assert context_relevance(record(FAR, FAR, NEAR), packaged).label == ""
    assert context_relevance(record(FAR, FAR, FAR), Keywords()).label == ""


def test_a_score_names_its_model_and_its_layer() -> None:
    context, answer = relevance(record(NEAR), Keywords())
    assert (context.layer, answer.layer) == (Layer.RETRIEVAL, Layer.GENERATION)
    for score in (context, answer):
        assert (score.kind, score.scorer, score.version) == (Kind.MODEL, "keywords", "2-abc")


@pytest.mark.parametrize("before", [0, 100, 300])
def test_a_long_chunk_counts_by_its_nearest_piece_wherever_it_is(before: int) -> None:
    far, near = f"{FAR} {FAR} {FAR}. ", f"{NEAR} " * 200
    score = context_relevance(record(far * before + near + far * (300 - before)), Keywords())
    assert score.value == pytest.approx(1.0, abs=0.05)
    assert context_relevance(record(far * 300), Keywords()).value == pytest.approx(0, abs=1e-6)


def test_a_digressing_answer_is_less_relevant_than_a_short_one() -> None:
    short = answer_relevance(record(answer=f"{NEAR} " * 20), Keywords())
    long = answer_relevance(record(answer=f"{NEAR} " * 200 + f"{FAR} " * 600), Keywords())
    assert short.value is not None
    assert long.value is not None
    assert long.value < short.value / 2


def test_the_same_chunk_found_twice_counts_once() -> None:
    twice = RagRecord(
        record_id="1",
        trace_id="1",
        query=NEAR,
        retrieved=(
            Document(chunk_id="a", content=NEAR),
            Document(chunk_id="a", content=NEAR),
            Document(chunk_id="b", content=FAR),
        ),
    )
    assert context_relevance(twice, Keywords()).value == pytest.approx(0.5, abs=1e-6)


def test_chunks_without_a_text_are_counted_and_do_not_lower_the_mean() -> None:
    score = context_relevance(record(NEAR, None, " "), Keywords())
    assert (score.value, score.details["without_text"]) == (pytest.approx(1.0), 2)


def test_what_is_too_long_to_read_is_named() -> None:
    model = Keywords()
    score = context_relevance(record(NEAR, f"{FAR} " * MOST_CHARACTERS), model)
    assert score.details["cut"] == ["1"]
    assert sum(map(len, model.read)) <= MOST_CHARACTERS + 2 * len(NEAR)


@pytest.mark.parametrize(
    ("given_record", "reasons"),
    [
        (record(), ("nothing was retrieved", None)),
        (record(None, ""), ("no retrieved chunk has a text", None)),
        (record(*[f"{n}" for n in range(MOST_CHUNKS + 1)]),
         (f"{MOST_CHUNKS + 1} chunks were retrieved, more than {MOST_CHUNKS}", None)),
        (record(NEAR, answer=None), (None, "there is no answer")),
        (record(NEAR, answer="I'm sorry, I could not find that."), (None, "the answer refused")),
        (RagRecord(record_id="1", trace_id="1", answer="a", retrieved=record(NEAR).retrieved),
         ("there is no question", "there is no question")),
        (RagRecord(record_id="1", trace_id="1", absent={"query": Absent.HIDDEN}),
         ("query is absent: hidden", "query is absent: hidden")),
        (RagRecord(record_id="1", trace_id="1", query="q", answer="a",
                   absent={"document_texts": Absent.HIDDEN}),
         ("document_texts is absent: hidden", None)),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_says_why(
    given_record: RagRecord, reasons: tuple[str | None, str | None]
) -> None:
    for score, reason in zip(relevance(given_record, Keywords()), reasons, strict=True):
        assert (score.value is None) == (reason is not None)
        assert reason is None or score.explanation == reason
        assert score.kind == Kind.MODEL


def test_an_absent_field_is_named_for_the_coverage() -> None:
    hidden = RagRecord(record_id="1", trace_id="1", query="q", absent={"answer": Absent.NOT_SENT})
    context, answer = relevance(hidden, Keywords())
    assert (context.absent, answer.absent) == ("", "answer")


def test_without_a_model_there_is_no_score_but_a_reason() -> None:
    for score in relevance(record(NEAR), Inference(InferenceSettings(enabled=False))):
        assert (score.value, score.explanation) == (None, "local models are switched off")


@given(st.lists(st.text(max_size=700) | st.just("退款需要五天" * 90), max_size=6).map(". ".join))
def test_pieces_hold_the_whole_text_and_fit_the_model(text: str) -> None:
    found = pieces(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(piece.encode("utf-8", "replace")) <= PIECE_BYTES for piece in found)
    assert all(piece == piece.strip() and piece for piece in found)
