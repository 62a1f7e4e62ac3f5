"""Exact intervals, against published tables and by their own definition."""

from __future__ import annotations

from math import comb

import pytest

from ragvigil.evaluation.exact import rare_difference, share_interval, sign_test


@pytest.mark.parametrize(
    ("events", "n", "low", "high"),
    [(0, 10, 0.0, 0.3085), (1, 10, 0.0025, 0.4450), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0)],
)
def test_bounds_are_those_of_clopper_and_pearson(
    events: int, n: int, low: float, high: float
) -> None:
    assert share_interval(events, n, tail=0.025) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("events", [1, 3, 40])
def test_a_bound_leaves_its_tail(events: int) -> None:
    low, high = share_interval(events, 60, tail=0.05)

    def exactly(k: int, share: float) -> float:
        return comb(60, k) * share**k * (1 - share) ** (60 - k)

    assert sum(exactly(k, low) for k in range(events, 61)) == pytest.approx(0.05, abs=1e-9)
    assert sum(exactly(k, high) for k in range(events + 1)) == pytest.approx(0.05, abs=1e-9)


def test_a_share_of_nothing_may_be_anything() -> None:
    assert share_interval(0, 0, tail=0.05) == (0.0, 1.0)


def test_no_event_at_all_still_leaves_an_interval() -> None:
    low, high = rare_difference(0, 0, 60, tail=0.05)
    assert (low, high) == pytest.approx((-(1 - 0.05 ** (1 / 60)), 1 - 0.05 ** (1 / 60)))


def test_many_thousand_cases_do_not_overflow() -> None:
    low, high = share_interval(4_000, 10_000, tail=0.05)
    assert 0.39 < low < 0.4 < high < 0.41


def test_a_sign_test_is_that_of_a_coin() -> None:
    assert sign_test(9, 1) == pytest.approx(11 / 1024)
