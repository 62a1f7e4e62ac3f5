"""Operating points: which are reported, and from how much evidence."""

from __future__ import annotations

import pytest

from alerts.signals.operating import OperatingPoint, operating_points
from ragvigil.model.delta import Delta
from ragvigil.model.operating import Place, ScoreSums, Spending, Thumbs
from tests.unit.alerts.score_streams import series

ASK = Place(service="helpdesk", environment="prod", route="/ask")


def scored(rubric: str, mean: float, n: int = 400, sd: float = 0.1) -> ScoreSums:
    return ScoreSums(
        place=ASK, rubric=rubric, n=n, total=n * mean, squares=n * (mean * mean + sd * sd)
    )


def points(
    *scores: ScoreSums,
    spending: tuple[Spending, ...] = (),
    thumbs: tuple[Thumbs, ...] = (),
    deltas: tuple[Delta, ...] = (),
) -> dict[str, OperatingPoint]:
    found = operating_points(scores, spending, thumbs, deltas, days=1.0)
    return {point.name: point for point in found}


def moved(rubric: str, delta: float, half: float = 0.02) -> Delta:
    return Delta(
        series=series(rubric=rubric),
        tick=0,
        window="24h",
        n=300,
        delta=delta,
        low=delta - half,
        high=delta + half,
    )


def test_an_unused_context_is_named_with_what_it_costs_a_day() -> None:
    spent = Spending(place=ASK, context_tokens=100_000, usd=2.0)
    (found,) = points(scored("chunk_utilization", 0.2), spending=(spent,)).values()
    assert found.name == "low_utilization"
    assert found.words == (
        "answers use 20 % of their context; about 80,000 tokens and up to $1.60 a day go unused: "
        "retrieve fewer chunks, or rerank"
    )


def test_without_prices_no_dollars_are_named() -> None:
    spent = Spending(place=ASK, context_tokens=100_000, usd=None)
    (found,) = points(scored("chunk_utilization", 0.2), spending=(spent,)).values()
    assert "$" not in found.words


def test_it_is_over_fetching_where_recall_is_known_and_use_is_under_a_quarter() -> None:
    low = scored("chunk_utilization", 0.2)
    assert set(points(low, scored("context_recall", 0.99, sd=0.01))) == {"over_fetching"}
    assert set(points(scored("chunk_utilization", 0.27), scored("context_recall", 0.99))) == {
        "low_utilization"
    }


def test_a_golden_recall_under_nine_tenths_is_under_fetching() -> None:
    found = points(scored("context_recall", 0.8))["under_fetching"]
    assert found.high < 0.9 < 0.91
    assert found.bound == 0.9


@pytest.mark.parametrize(
    ("down", "rated", "name"),
    [(20, 150, {"thumbs_down"}), (1, 300, {"few_thumbs_down"}), (1, 20, set()), (0, 0, set())],
)
def test_thumbs_are_named_only_beyond_their_interval(down: int, rated: int, name: set[str]) -> None:
    assert set(points(thumbs=(Thumbs(place=ASK, rated=rated, down=down),))) == name


def test_what_is_near_its_bound_or_of_few_scores_is_left_unsaid() -> None:
    assert not points(scored("chunk_utilization", 0.295, n=100))
    assert not points(scored("chunk_utilization", 0.1, n=5), scored("context_recall", 0.5, n=5))
    assert not points(scored("chunk_utilization", 0.6), scored("context_recall", 0.95))


@pytest.mark.parametrize(
    ("rose", "fell", "name"),
    [
        ("groundedness", "completeness", "narrower_answers"),
        ("completeness", "groundedness", "broader_answers"),
        ("context_recall", "context_precision", "wider_retrieval"),
        ("context_precision", "context_recall", "narrower_retrieval"),
        ("context_adherence", "answer_relevance", "past_the_question"),
        ("answer_relevance", "context_adherence", "past_the_context"),
    ],
)
def test_a_pair_that_pulls_apart_has_a_name(rose: str, fell: str, name: str) -> None:
    found = points(deltas=(moved(rose, 0.1), moved(fell, -0.08)))
    assert set(found) == {name}
    assert found[name].value == pytest.approx(-0.08)
    assert not points(deltas=(moved(rose, 0.1), moved(fell, -0.01)))
    assert not points(deltas=(moved(rose, 0.1), moved(fell, 0.1)))
