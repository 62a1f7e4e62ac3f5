"""A set beside live traffic: a gap is found with its interval, and equal means are none."""

from __future__ import annotations

from random import Random

import pytest

from ragvigil.evaluation.live.gap import LEAST_CASES, LEAST_LIVE, gaps
from ragvigil.store.reports.offline_scores import Sums


def sums(values: list[float], *, rubric: str = "groundedness", **place: str) -> Sums:
    return Sums(
        service=place.get("service", "desk"),
        environment=place.get("environment", ""),
        route=place.get("route", "/ask"),
        rubric=rubric,
        n=len(values),
        total=sum(values),
        squares=sum(value * value for value in values),
        questions=len(values),
    )


def test_a_set_that_is_easier_than_users_is_apart() -> None:
    (gap,) = gaps([sums([1.0] * 91 + [0.0] * 9)], [sums([1.0] * 780 + [0.0] * 220)])
    assert (gap.offline.mean, gap.live.mean, gap.is_apart) == (0.91, 0.78, True)
    assert gap.gap == pytest.approx(0.13)
    # By hand: 91.96 of 101.92 and 780.96 of 1,001.92, and 1.96 times the root of the sum of errors.
    assert [gap.low, gap.high] == pytest.approx([0.0597, 0.1859], abs=1e-4)


def test_a_route_of_the_set_is_compared_with_that_route_and_none_with_all() -> None:
    live = [
        sums([1.0] * 50, environment="prod"),
        sums([0.0] * 50, route="/chat", environment="prod"),
        sums([0.5] * 50, service="other"),
    ]
    every, ask = sums([1.0] * 20, route=""), sums([1.0] * 20)
    means = {gap.route: gap.live.mean for gap in gaps([every, ask], live)}
    assert means == {"": 0.5, "/ask": 1.0}
    assert not gaps([sums([1.0] * 20, environment="staging")], live)


@pytest.mark.parametrize(("cases", "answers"), [(LEAST_CASES - 1, 99), (99, LEAST_LIVE - 1)])
def test_too_few_are_compared_with_nothing(cases: int, answers: int) -> None:
    assert not gaps([sums([1.0] * cases)], [sums([0.0] * answers)])


def test_equal_traffic_is_rarely_apart() -> None:
    """Twelve rubrics a run, of the same distribution on both sides: at most 5 % of runs."""
    dice, runs = Random(4), 150
    rubrics = [f"r{number}" for number in range(12)]

    def drawn(n: int, rubric: str) -> Sums:
        return sums([float(dice.random() < 0.9) for _ in range(n)], rubric=rubric)

    wrong = sum(
        any(
            gap.is_apart
            for gap in gaps(
                [drawn(60, rubric) for rubric in rubrics],
                [drawn(400, rubric) for rubric in rubrics],
            )
        )
        for _ in range(runs)
    )
    assert wrong / runs <= 0.06
