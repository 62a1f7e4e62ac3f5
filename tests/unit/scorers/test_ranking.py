"""Numbers of a ranking: those of trec_eval, a series each, none without a golden question."""

from __future__ import annotations

import doctest
from itertools import product
from math import nan

import pytest
import pytrec_eval

from ragvigil.evaluation.case import Case as OfflineCase
from ragvigil.evaluation.measure import _recall as offline
from ragvigil.model.record import Document, RagRecord
from scorers import ranking as module
from scorers.context_recall import CUTOFFS, ranking
from scorers.golden import parse_case
from scorers.ranking import RANKINGS, K
from scorers.runner import Runner, load_scorers

QUESTION = "How long does a refund take?"
MEASURES = {"P": "precision", "recall": "recall", "ndcg_cut": "ndcg", "success": "hit"}
CASES = {
    "one": [[0]],
    "second": [[1]],
    "two, one missing": [[2], []],
    "none found": [[], []],
    "more gold than places": [[0], [1], [3], [], [], []],
    "a chunk twice": [[1, 4], [2]],
    "beyond most cut-offs": [[12], [49], [50]],
    "all first": [[0], [1], [2], [3], [4]],
}


def by_trec_eval(places: list[list[int]], retrieved: int) -> dict[str, float]:
    """trec_eval's numbers; a repeated chunk counts for precision alone, so it is asked twice."""
    run = {"q": {str(place): -float(place) for place in range(retrieved)}}
    first = {str(min(at)) if at else f"missing {n}": 1 for n, at in enumerate(places)}
    every = {str(place): 1 for at in places for place in at} or {"missing": 1}
    wanted = {f"{name}.{','.join(map(str, CUTOFFS))}" for name in MEASURES} | {"recip_rank"}
    counted = pytrec_eval.RelevanceEvaluator({"q": first}, wanted).evaluate(run)["q"]
    precise = pytrec_eval.RelevanceEvaluator({"q": every}, wanted).evaluate(run)["q"]
    numbers = {"mrr": counted["recip_rank"]}
    for (theirs, ours), k in product(MEASURES.items(), CUTOFFS):
        numbers[f"{ours}@{k}"] = (precise if theirs == "P" else counted)[f"{theirs}_{k}"]
    return numbers


def test_the_examples_in_the_docstring_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("retrieved", [60, 0])
@pytest.mark.parametrize("name", CASES)
def test_the_numbers_are_those_of_trec_eval(name: str, retrieved: int) -> None:
    places = CASES[name] if retrieved else [[] for _ in CASES[name]]
    assert ranking(places) == pytest.approx(by_trec_eval(places, retrieved), abs=1e-9)


def record(*names: str, question: str = QUESTION) -> RagRecord:
    chunks = tuple(Document(chunk_id=name, content=f"text of {name}") for name in names)
    return RagRecord(record_id="1", trace_id="1", query=question, retrieved=chunks)


@pytest.mark.parametrize(
    "names", [("x", "a"), ("a", "a", "b"), (), ("a",), ("\ud800", "b")], ids=str
)
def test_a_series_has_the_number_that_an_evaluation_has(names: tuple[str, ...]) -> None:
    case = parse_case({"question": QUESTION, "gold_chunk_ids": ["a", "b"]})
    (recall,) = offline(OfflineCase(case_id="1", question=QUESTION, gold=case.gold), record(*names))
    for scorer in RANKINGS:
        expected = float(str(recall.details.get(scorer.number, nan)))
        assert scorer([case]).score(record(*names)).value == pytest.approx(expected, abs=1e-9)


def test_an_answer_to_no_golden_question_has_no_such_score() -> None:
    case = parse_case({"question": QUESTION, "gold_chunk_ids": ["a"]})
    runner = Runner([scorer([case]) for scorer in RANKINGS])
    assert runner.score_all(record("a", question="Who pays for the parcel?")) == ()
    assert {score.rubric for score in runner.score_all(record("a"))} == {
        "recall_at_k", "precision_at_k", "ndcg", "mrr",
    }  # fmt: skip
    assert not {scorer.rubric for scorer in RANKINGS} & {
        score.rubric for score in Runner(load_scorers()).score_all(record("a"))
    }


def test_the_cut_off_is_the_one_that_the_rubrics_name() -> None:
    assert K == 5
