"""What sentences were written from: the nearest chunks, the documents, and what is cited."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from ragvigil.model.record import Citation, Document, RagRecord
from scorers import chunk_utilization, multi_hop, source_attribution
from scorers.multi_hop import MultiHop
from scorers.runner import Runner
from scorers.source_attribution import SourceAttribution

CARDS, SHOP = "Card refunds take five working days.", "The shop is closed on every Sunday."
OWN = "Nobody at all minds waiting."


def record(answer: str, *documents: str, cited: tuple[str, ...] = ()) -> RagRecord:
    texts = (CARDS, SHOP, CARDS)
    context = tuple(
        Document(chunk_id=f"c{n}", document_id=name, content=texts[n])
        for n, name in enumerate(documents)
    )
    citations, at = [], 0
    for sentence, name in zip(answer.split("|"), cited, strict=False):
        end = at + len(sentence)
        citations.append(Citation(target=name, chunk_id=name, claim_start=at, claim_end=end))
        at = end + 1
    return RagRecord(
        record_id="1", trace_id="1", context=context, answer=answer.replace("|", " "),
        citations=tuple(citations),
    )  # fmt: skip


@pytest.mark.parametrize("module", [chunk_utilization, multi_hop, source_attribution])
def test_the_examples_in_the_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("answer", "documents", "label"),
    [
        (CARDS, ("a", "b"), "one_document"),
        (f"{CARDS} {SHOP}", ("a", "b"), "several_documents"),
        (f"{CARDS} {SHOP}", ("a", "a"), "one_document"),
        (f"{CARDS} {SHOP}", ("a", "b", "b"), "one_document"),  # b has both
        (OWN, ("a", "b"), ""),
        (f"{CARDS} {SHOP}", ("a", ""), ""),
    ],
)
def test_an_answer_rests_on_several_documents_if_none_has_all_of_it(
    answer: str, documents: tuple[str, ...], label: str
) -> None:
    assert MultiHop().score(record(answer, *documents)).label == label


@pytest.mark.parametrize(
    ("cited", "value"),
    [(("c0", "c1"), 1.0), (("c1", "c0"), 0.0), (("c2", "c1"), 1.0), (("c0", "c0"), 0.5)],
)
def test_a_sentence_should_cite_the_chunk_it_repeats(cited: tuple[str, ...], value: float) -> None:
    answer = record(f"{CARDS}|{SHOP}", "a", "b", "b", cited=cited)
    assert SourceAttribution().score(answer).value == value


def test_a_sentence_in_words_of_its_own_is_left_out() -> None:
    answer = record(f"{CARDS}|{OWN}", "a", "b", cited=("c0", "c1"))
    assert SourceAttribution().score(answer).value == 1.0


def test_what_neither_applies_to_has_no_row() -> None:
    runner = Runner([MultiHop(), SourceAttribution()])
    assert runner.score_all(record(OWN, "a", "b")) == ()
    both = runner.score_all(record(CARDS, "a", "b", cited=("c0",)))
    assert [score.rubric for score in both] == ["multi_hop", "source_attribution"]
