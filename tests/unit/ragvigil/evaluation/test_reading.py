"""Readings: the first step at which a case went wrong."""

from __future__ import annotations

import pytest

from ragvigil.evaluation.case import Case, Expects, Perturbation
from ragvigil.evaluation.gold_way import GoldWay
from ragvigil.evaluation.reading import Evidence, read
from ragvigil.evaluation.result import Reading
from ragvigil.model.record import Absent, Document, RagRecord
from ragvigil.model.score import Kind, Layer, Score
from scorers.golden import Fact, Gold

GOLD = Document(chunk_id="g")
OTHER = Document(chunk_id="x")
CASE = Case(
    case_id="c",
    question="How long?",
    gold=(Gold(chunk_id="g"),),
    facts=(Fact(text="Refunds take 5 days"),),
)
RIGHT, WRONG = "Refunds take 5 days.", "Refunds take 9 days."
FAILS = Score(rubric="citation_validity", value=0.0, layer=Layer.CROSS_CUTTING)
UNSURE = Score(rubric="groundedness", value=0.0, layer=Layer.GENERATION, kind=Kind.JUDGE)


def way(retrieved: Document, reranked: Document | None, context: Document) -> GoldWay:
    record = RagRecord(
        record_id="1",
        trace_id="1",
        retrieved=(retrieved,),
        reranked=(reranked,) if reranked else (),
        context=(context,),
    )
    return GoldWay(CASE.gold, record)


def reading(answer: str, way_: GoldWay, *failing: Score, refusal: str = "answered") -> object:
    evidence = Evidence(
        case=CASE,
        way=way_,
        values={"facts_stated": float(answer == RIGHT)},
        labels={"refusal": refusal},
        failing=failing,
        answer=answer,
    )
    return read(evidence)[0]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ((OTHER, None, OTHER), Reading.NOT_RETRIEVED),
        ((GOLD, OTHER, OTHER), Reading.LOST_BY_RERANKER),
        ((GOLD, GOLD, OTHER), Reading.CUT_FROM_CONTEXT),
        ((GOLD, None, GOLD), Reading.CONTRADICTED),
    ],
)
def test_the_first_step_that_lost_the_gold_is_the_reading(
    chunks: tuple[Document, Document | None, Document], expected: Reading
) -> None:
    assert reading(WRONG, way(*chunks)) is expected
    assert reading(RIGHT, way(*chunks)) is None, "what is right is right wherever it was found"


def test_with_the_gold_in_the_prompt_the_answer_is_read() -> None:
    there = way(GOLD, None, GOLD)
    assert reading("No.", there, refusal="refused") is Reading.REFUSED_WRONGLY
    assert reading("Ask the shop.", there) is Reading.NOT_USED
    assert reading(RIGHT, there, FAILS, UNSURE) is Reading.CITATION_WRONG
    assert reading(RIGHT, there, UNSURE) is Reading.JUDGE_DISAGREES


def test_what_is_not_known_is_not_lost() -> None:
    hidden = RagRecord(record_id="1", trace_id="1", absent={"retrieved": Absent.NOT_SENT})
    nameless = RagRecord(record_id="1", trace_id="1", retrieved=(Document(chunk_id=""),))
    assert GoldWay(CASE.gold, hidden).is_retrieved is None
    assert GoldWay(CASE.gold, nameless).is_retrieved is None


def test_what_has_no_answer_must_be_refused() -> None:
    case = Case(case_id="m", question="Who is king of Mars?", must_refuse=True)
    for stance, expected in (("answered", Reading.ANSWERED_WRONGLY), ("refused", None)):
        assert read(Evidence(case=case, labels={"refusal": stance}))[0] is expected


def test_a_perturbation_that_wins_says_how() -> None:
    made = Perturbation(name="injection", parent="c", expects=Expects.RESISTS, forbidden=("xyzzy",))
    case = Case(case_id="c~injection", question="How long?", perturbation=made)
    found = read(Evidence(case=case, values={"perturbation": 0.0}, answer="XYZZY"))
    assert found == (Reading.PERTURBATION_WON, "injection: obeys an order in a chunk: xyzzy")


def test_precision_counts_the_ranks_of_gold() -> None:
    record = RagRecord(record_id="1", trace_id="1", context=(OTHER, GOLD), retrieved=(OTHER, GOLD),
                       reranked=(GOLD, OTHER))  # fmt: skip
    found = GoldWay(CASE.gold, record)
    assert found.precision == 0.5
    assert found.rerank_gain == pytest.approx(1 - 0.6309, abs=1e-4)


TEXT = "Card refunds take 5 days, counted from the day on which the parcel came back to us."


@pytest.mark.parametrize(
    ("contents", "unchanged", "covered", "expected"),
    [
        ((TEXT,), True, 1.0, Reading.CONTRADICTED),
        ((f"Refunds. {TEXT} Ask us.",), True, 1.0, Reading.CONTRADICTED),
        ((TEXT.replace("5", "9"),), False, 13 / 17, Reading.GOLD_CHANGED),
        (("Card refunds take 5 days,",), True, 5 / 17, Reading.CUT_FROM_CONTEXT),
        (("Vouchers are never paid out in cash.",), None, 0.0, Reading.CUT_FROM_CONTEXT),
        ((None,), None, None, Reading.CONTRADICTED),
    ],
)
def test_a_gold_chunk_that_says_something_else_is_the_corpus_and_a_piece_of_it_the_retriever(
    contents: tuple[str | None, ...],
    unchanged: bool | None,
    covered: float | None,
    expected: Reading,
) -> None:
    chunks = tuple(Document(chunk_id="g", content=content) for content in contents)
    record = RagRecord(record_id="1", trace_id="1", retrieved=chunks, context=chunks)
    found = GoldWay((Gold(chunk_id="g", text=TEXT),), record)
    assert (found.is_unchanged, found.covered) == (unchanged, covered)
    assert reading(WRONG, found) is expected
    assert reading(RIGHT, found) is None
