"""Debiased levels: their value, their coverage, and the cost of a useless judge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.calibration.ppi import Sums, debiased_level

VALUES = st.floats(0, 1)


@pytest.mark.parametrize("labels", [0, 1, 2])
def test_without_labels_there_is_no_level(labels: int) -> None:
    assert debiased_level([1.0] * labels, [1.0] * labels, Sums.of([0.5] * 100)) is None


def test_labels_without_their_verdicts_are_refused() -> None:
    with pytest.raises(ValueError, match="3 labels against 2 judged"):
        debiased_level([1.0] * 3, [1.0] * 2, Sums())


def test_a_lenient_judge_is_corrected_to_the_labels() -> None:
    """People find 0.1 less than the judge on the same records."""
    judged = [number / 20 for number in range(4, 21)] * 4
    labels = [value - 0.1 for value in judged]
    level = debiased_level(labels, judged, Sums.of(judged * 10))
    assert level is not None
    assert level.judged == pytest.approx(0.6)
    assert level.mean == pytest.approx(0.5)
    assert level.weight > 0.85
    assert (level.labels, level.records) == (68, 748)


def test_a_judge_with_constant_values_gets_no_weight() -> None:
    labels = [1.0, 0.0] * 20
    level = debiased_level(labels, [0.9] * 40, Sums.of([0.9] * 500))
    assert level is not None
    assert (level.mean, level.weight) == (0.5, 0.0)


def test_equal_labels_do_not_prove_a_level() -> None:
    level = debiased_level([1.0] * 30, [1.0] * 30, Sums.of([1.0] * 300))
    assert level is not None
    assert level.mean == level.high == 1.0
    assert level.low < 0.97


def simulated(noise: float, labels: int, runs: int = 600) -> tuple[float, float]:
    """Coverage, and the width of the interval over that of the labels alone."""
    rng = np.random.default_rng(9)
    covered, widths, plain = 0, 0.0, 0.0
    for _ in range(runs):
        truth = (rng.random(1500) < 0.8).astype(float)
        judged = np.clip(0.1 + 0.8 * truth + rng.normal(0, noise, 1500), 0, 1)
        level = debiased_level(
            list(truth[:labels]), list(judged[:labels]), Sums.of(list(judged[labels:]))
        )
        alone = debiased_level(list(truth[:labels]), list(judged[:labels]), Sums())
        assert level is not None
        assert alone is not None
        covered += level.low <= 0.8 <= level.high
        widths += level.high - level.low
        plain += alone.high - alone.low
    return covered / runs, widths / plain


@pytest.mark.parametrize(("noise", "labels", "narrower"), [(0.2, 60, 0.85), (0.2, 200, 0.8)])
def test_a_good_judge_makes_the_interval_narrow_and_it_still_covers(
    noise: float, labels: int, narrower: float
) -> None:
    coverage, width = simulated(noise, labels)
    assert 0.92 <= coverage <= 0.985
    assert width < narrower


def test_a_bad_judge_hardly_widens_the_interval() -> None:
    coverage, width = simulated(3.0, 100)
    assert 0.92 <= coverage <= 0.98
    assert width < 1.03


@given(st.lists(st.tuples(VALUES, VALUES), max_size=40), st.lists(VALUES, max_size=40))
def test_a_level_lies_within_its_interval(
    both: list[tuple[float, float]], unlabelled: list[float]
) -> None:
    level = debiased_level(
        [label for label, _ in both],
        [judged_value for _, judged_value in both],
        Sums.of(unlabelled),
    )
    if len(both) < 3:
        assert level is None
        return
    assert level is not None
    assert 0 <= level.low <= level.mean <= level.high <= 1
    assert 0 <= level.weight <= 1
