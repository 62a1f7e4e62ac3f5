"""Kappa against tables worked by hand, its algebra, its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.calibration.kappa import Weighting, kappa, kappa_with_interval

GRADES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
WEIGHTINGS = st.sampled_from(Weighting)


def pairs(table: list[list[int]]) -> tuple[list[float], list[float]]:
    """Verdicts 0, 1, 2 … of two sides from a table of counts."""
    both = [
        (float(place), float(other))
        for place, row in enumerate(table)
        for other, count in enumerate(row)
        for _ in range(count)
    ]
    return [first for first, _ in both], [other for _, other in both]


@pytest.mark.parametrize(
    ("table", "weighting", "expected"),
    [
        # Agree 70 of 100; by chance 0.3 · 0.4 + 0.7 · 0.6 = 0.54.
        ([[20, 10], [20, 50]], Weighting.NOMINAL, (0.70 - 0.54) / (1 - 0.54)),
        ([[50, 0], [0, 50]], Weighting.NOMINAL, 1.0),
        ([[0, 50], [50, 0]], Weighting.NOMINAL, -1.0),
        ([[25, 25], [25, 25]], Weighting.NOMINAL, 0.0),
        # Of 20 pairs, 4 are one grade apart and 1 is two. By chance, from the margins 8 8 4 and
        # 7 8 5: 328 / 400 grades, 464 / 400 squared grades.
        ([[6, 1, 1], [1, 6, 1], [0, 1, 3]], Weighting.LINEAR, 1 - (6 / 20) / (328 / 400)),
        ([[6, 1, 1], [1, 6, 1], [0, 1, 3]], Weighting.QUADRATIC, 1 - (8 / 20) / (464 / 400)),
    ],
)
def test_kappa_is_that_of_a_table_by_hand(
    table: list[list[int]], weighting: Weighting, expected: float
) -> None:
    assert kappa(*pairs(table), weighting) == pytest.approx(expected)


def test_words_have_no_order() -> None:
    people = ["refused", "answered", "partial", "answered"]
    assert kappa(people, people) == 1.0
    assert kappa(people, ["answered", "refused", "answered", "partial"]) == pytest.approx(-0.6)


@pytest.mark.parametrize("both", [([], []), (["pass"] * 9, ["pass"] * 9)])
def test_constant_verdicts_have_no_kappa(
    both: tuple[list[str], list[str]],
) -> None:
    found = kappa_with_interval(*both)
    assert found.value is None
    assert (found.low, found.high) == (None, None)
    assert found.n == len(both[0])


def test_verdicts_that_do_not_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="2 verdicts against 1"):
        kappa(["a", "b"], ["a"])


@given(st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=60), WEIGHTINGS)
def test_kappa_is_symmetric_and_between_minus_one_and_one(
    both: list[tuple[float, float]], weighting: Weighting
) -> None:
    first, second = ([pair[side] for pair in both] for side in (0, 1))
    found = kappa(first, second, weighting)
    assert found is None or -1 <= found <= 1
    other = kappa(second, first, weighting)
    assert (other is None) == (found is None)
    assert other == pytest.approx(found)


@given(st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=60), WEIGHTINGS)
def test_full_agreement_is_one_and_order_does_not_matter(
    both: list[tuple[float, float]], weighting: Weighting
) -> None:
    first = [first for first, _ in both]
    assert kappa(first, first, weighting) in (1.0, None)
    second = [second for _, second in both]
    again = kappa(first[::-1], second[::-1], weighting)
    assert again == pytest.approx(kappa(first, second, weighting))


@given(st.lists(st.tuples(GRADES, GRADES), min_size=2, max_size=60))
def test_quadratic_weights_are_two_covariances_over_the_spread(
    both: list[tuple[float, float]],
) -> None:
    first, second = np.array(both).T
    spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    found = kappa(list(first), list(second), Weighting.QUADRATIC)
    if spread < 1e-9:
        assert found is None
    else:
        together = float(np.cov(first, second, bias=True)[0, 1])
        assert found == pytest.approx(2 * together / spread, abs=1e-9)


def test_the_same_seed_gives_the_same_interval() -> None:
    both = pairs([[40, 10], [10, 40]])
    assert kappa_with_interval(*both, seed=3) == kappa_with_interval(*both, seed=3)
    assert kappa_with_interval(*both, seed=3) != kappa_with_interval(*both, seed=4)


def test_the_interval_has_its_nominal_coverage() -> None:
    """Half of the records pass; people and judge agree on 85 %: kappa 0.7."""
    rng = np.random.default_rng(8)
    covered = 0
    for run in range(200):
        people = rng.random(120) < 0.5
        judge = people ^ (rng.random(120) < 0.15)
        found = kappa_with_interval(list(people.astype(float)), list(judge.astype(float)), seed=run)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.7 <= found.high
    assert 0.91 <= covered / 200 <= 0.98
