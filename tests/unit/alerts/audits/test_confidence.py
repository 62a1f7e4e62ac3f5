"""Bounds that hold at every look, and the drop that n differences could show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.audits.confidence import LEAST, Differences, bounds, could_show, differences, radius

SMALL = st.floats(-1, 1)


@given(st.lists(SMALL, min_size=1, max_size=60), st.sampled_from([0.005, 0.025, 0.2]))
def test_the_mean_lies_between_its_bounds_and_these_within_the_range(
    values: list[float], alpha: float
) -> None:
    seen = differences(values)
    low, high = bounds(seen, alpha)
    assert -1 <= low <= seen.mean + 1e-12
    assert seen.mean - 1e-12 <= high <= 1


@given(st.lists(SMALL, min_size=1, max_size=60), st.randoms())
def test_the_order_of_differences_does_not_matter(values: list[float], chance: object) -> None:
    mixed = list(values)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = differences(values), differences(mixed)
    assert first.n == second.n
    assert first.variance == pytest.approx(second.variance)


@given(st.lists(SMALL, min_size=1, max_size=40))
def test_a_fall_and_a_rise_are_mirror_images(values: list[float]) -> None:
    low, high = bounds(differences(values), 0.01)
    mirrored = bounds(differences(-value for value in values), 0.01)
    assert mirrored == pytest.approx((-high, -low))


def test_of_nothing_nothing_is_known() -> None:
    assert bounds(Differences(), 0.01) == (-1, 1)
    assert radius(0, 1.0, 0.01) >= 2


def test_fewer_false_confirmations_and_fewer_differences_make_wider_bounds() -> None:
    assert radius(100, 0.1, 0.001) > radius(100, 0.1, 0.01)
    assert radius(100, 0.1, 0.01) > radius(200, 0.1, 0.01)
    assert radius(100, 0.2, 0.01) > radius(100, 0.1, 0.01)


def test_equal_differences_do_not_prove_anything_by_being_equal() -> None:
    low, high = bounds(differences([0.0] * LEAST), 0.01)
    assert low < -0.04
    assert high > 0.04


@pytest.mark.parametrize("share", [0.03, 0.3])
def test_the_bounds_are_passed_at_any_look_no_more_often_than_they_say(share: float) -> None:
    """600 differences of scores of 0 or 1, checked after each: 1 % may be wrong a side."""
    rng = np.random.default_rng(5)
    runs, most, alpha = 1500, 600, 0.01
    values = (rng.random((runs, most)) < share) * 1.0 - (rng.random((runs, most)) < share)
    passed = 0
    for run in values:
        total, squares = np.cumsum(run), np.cumsum(run**2)
        passed += any(
            bounds(Differences(n=n, total=total[n - 1], squares=squares[n - 1]), alpha)[1] < 0
            for n in range(LEAST, most + 1, 10)
        )
    assert passed / runs <= alpha


def test_what_could_be_shown_shrinks_with_the_differences_and_is_nothing_before_the_least() -> None:
    assert could_show(LEAST - 1, 0.07, 0.005) == 1
    shown = [could_show(n, 0.07, 0.005) for n in (LEAST, 100, 300, 600)]
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] < 0.06
