"""Sentences of an answer, their support and contradiction, with a model that the test writes."""

from __future__ import annotations

import doctest
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.weights import ModelFile
from ragvigil.model.record import Absent, Citation, Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.grounding import entailment as grounding
from scorers.grounding.entailment import joint
from scorers.local import entailment as local
from scorers.local.entailment import MOST, RUBRICS, entailment

CARDS = Document(chunk_id="cards", content="Card refunds take five days to appear on the card.")
SHOP = Document(chunk_id="shop", content="The shop is closed on Sunday and opens at nine.")
TAKES, OPEN = "Card refunds take five days. ", "The shop is open on Sunday."
SUPPORTED, UNKNOWN, DENIED = (0.98, 0.01, 0.01), (0.01, 0.98, 0.01), (0.005, 0.005, 0.99)


@dataclass
class Says:
    """A model that knows sentences by their beginning, and supports all others."""

    by_start: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def entail(
        self, _file: ModelFile, pairs: Sequence[tuple[str, str]]
    ) -> NDArray[np.float32] | Unavailable:
        self.asked += pairs
        return np.array([self._of(text) for _, text in pairs], np.float32)

    def _of(self, text: str) -> tuple[float, float, float]:
        return next(
            (row for start, row in self.by_start.items() if text.startswith(start)), SUPPORTED
        )


def record(answer: str = TAKES + OPEN, *cited: Citation) -> RagRecord:
    return RagRecord(
        record_id="1", trace_id="1", query="When?", context=(CARDS, SHOP), answer=answer,
        citations=cited,
    )  # fmt: skip


def cites(chunk: str, text: str, answer: str = TAKES + OPEN) -> Citation:
    start = answer.index(text)
    return Citation(target=chunk, chunk_id=chunk, claim_start=start, claim_end=start + len(text))


def scores(asked: RagRecord, model: Says) -> dict[str, Score]:
    found = entailment(asked, model)
    assert [score.rubric for score in found] == list(RUBRICS)
    assert all(score.kind is Kind.MODEL and score.scorer == "entailment" for score in found)
    for score in found:
        json.dumps(dict(score.details), allow_nan=False)
    return {score.rubric: score for score in found}


@pytest.mark.parametrize("module", [grounding, local])
def test_the_examples_of_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


def test_a_sentence_that_the_context_denies_is_contradicted_and_lowers_support() -> None:
    good, bad = scores(record(), Says()), scores(record(), Says({"The shop": DENIED}))
    assert (good["contradiction"].value, good["contradiction"].label) == (1.0, "")
    assert (bad["contradiction"].value, bad["contradiction"].label) == (0.5, "contradicted")
    place = (TAKES + OPEN).index(OPEN)
    assert [row["start"] for row in bad["contradiction"].details["sentences"]] == [place]  # type: ignore[attr-defined]
    before, after = good["sentence_support"].value, bad["sentence_support"].value
    assert before is not None
    assert after is not None
    assert after < before - 0.1


def test_the_value_is_that_of_both_models() -> None:
    (row, _) = scores(record(), Says())["sentence_support"].details["sentences"]  # type: ignore[misc]
    assert row["supported"] == round(joint(row["by_words"], float(np.float32(0.98))), 4)
    assert row["chunk_id"] == "cards"


def test_where_the_model_fails_on_a_pair_the_trees_stand_alone() -> None:
    (row, _) = scores(record(), Says({"Card": (0, 0, 0)}))["sentence_support"].details["sentences"]  # type: ignore[misc]
    assert row["supported"] == row["by_words"]
    assert row["contradicted"] == 0


def test_a_cited_sentence_is_held_against_the_chunk_that_it_cites_alone() -> None:
    model = Says()
    wrong = scores(record(TAKES + OPEN, cites("shop", TAKES.strip())), model)["citation_support"]
    assert model.asked[-1] == ("The shop is closed on Sunday and opens at nine.", TAKES.strip())
    right = scores(record(TAKES + OPEN, cites("cards", TAKES.strip())), Says())["citation_support"]
    assert wrong.value is not None
    assert right.value is not None
    assert right.value > wrong.value  # the trees find none of its words in the other chunk
    assert len(right.details["sentences"]) == 1  # type: ignore[arg-type]


def test_weak_support_is_a_label_and_fails_no_answer() -> None:
    answer = "Anna Berg founded the ferry company in 1990 with twelve cabins."
    asked = record(answer, cites("shop", answer, answer))
    score = scores(asked, Says({"Anna": UNKNOWN}))["citation_support"]
    assert score.label == "weak_support"
    assert "1 of 1" in score.explanation
    assert not score.fails(1.0)


def test_two_citations_of_a_sentence_are_held_against_both_chunks_at_once() -> None:
    both = (cites("shop", TAKES.strip()), cites("cards", TAKES.strip()))
    model = Says()
    score = scores(record(TAKES + OPEN, *both), model)["citation_support"]
    assert len(score.details["sentences"]) == 1  # type: ignore[arg-type]
    assert "five days" in model.asked[-1][0]
    assert "Sunday" in model.asked[-1][0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": " "}, "there is no answer"),
        ({"context": ()}, "no text reached the prompt"),
        ({"answer": "I'm sorry, I could not find that in the documents."}, "the answer refused"),
        ({"answer": "Die Erstattung auf die Karte dauert fünf Tage."}, "reads English"),
        ({"answer": "..."}, "no sentence can be compared"),
    ],
)
def test_what_cannot_be_read_is_not_applicable_with_a_reason(
    changes: dict[str, object], reason: str
) -> None:
    found = scores(replace(record(), **changes), Says())  # type: ignore[arg-type]
    for rubric in ("sentence_support", "contradiction"):
        assert found[rubric].value is None
        assert reason in found[rubric].explanation


def test_without_the_model_nothing_is_guessed() -> None:
    class NoModel(Says):
        def entail(self, _file: ModelFile, _pairs: object) -> Unavailable:
            return Unavailable(reason=Reason.NO_MODEL, detail="entailment.onnx is not installed")

    cited = record(TAKES + OPEN, cites("cards", TAKES.strip()))
    for score in scores(cited, NoModel()).values():
        assert score.value is None
        assert score.explanation == "entailment.onnx is not installed"


def test_an_absent_field_is_named() -> None:
    found = scores(replace(record(), absent={"citations": Absent.NOT_SENT}), Says())
    assert found["citation_support"].absent == "citations"
    assert found["sentence_support"].value is not None


def test_a_citation_of_an_unknown_chunk_or_place_is_left_out() -> None:
    cited = (cites("nowhere", TAKES.strip()), Citation(target="cards", chunk_id="cards"))
    score = scores(record(TAKES + OPEN, *cited), Says())["citation_support"]
    assert score.value is None
    assert score.explanation == "no cited sentence has a chunk with a text"


def test_of_a_long_answer_the_first_sentences_are_read() -> None:
    model = Says()
    long = " ".join(f"Refund number {place} takes five days." for place in range(60))
    scores(record(long), model)
    assert len(model.asked) == MOST
