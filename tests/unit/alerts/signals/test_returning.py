"""Whether a number is back: as soon as that is sure, and not by a lull."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.signals.levels import Past
from alerts.signals.returning import return_of

NOW = 1_767_225_600
ALL = np.arange(2)
PAST = Past(
    n=np.array([5000.0, 5000.0]),
    mean=np.array([0.5, 0.7]),
    variance=np.array([0.04, 0.04]),
    phi=np.array([1.2, 1.2]),
    cells_n=np.zeros((0, 2)),
    cells_mean=np.zeros((0, 2)),
    is_same_hours=True,
)


def minutes(shifts: list[float], seed: int = 0, an_hour: float = 120.0) -> np.ndarray:
    """Sums by the minute of two series whose means are shifted."""
    chance = np.random.default_rng(seed)
    made = np.zeros((3, len(shifts), 2))
    for minute, shift in enumerate(shifts):
        for place in range(2):
            values = chance.normal(PAST.mean[place] + shift, 0.2, chance.poisson(an_hour / 60))
            made[:, minute, place] = len(values), values.sum(), (values**2).sum()
    return made


@pytest.mark.parametrize("seed", range(20))
def test_a_return_is_seen_within_minutes_and_dated_to_the_fix(seed: int) -> None:
    back = return_of(minutes([-0.2] * 60 + [0.0] * 15, seed), PAST, ALL, -0.2, NOW)
    assert back is not None
    assert abs(back.since - (NOW - 15 * 60)) <= 8 * 60
    assert back.change == pytest.approx(0.0, abs=0.1)


def test_a_level_that_stays_away_is_hardly_ever_taken_for_back() -> None:
    lulls = sum(
        return_of(minutes([-0.1] * 120, seed), PAST, ALL, -0.1, NOW) is not None
        for seed in range(300)
    )
    assert lulls <= 3


def test_without_requests_or_a_past_nothing_is_back() -> None:
    assert return_of(np.zeros((3, 30, 2)), PAST, ALL, -0.2, NOW) is None
    unknown = Past(
        n=np.zeros(2),
        mean=PAST.mean,
        variance=PAST.variance,
        phi=PAST.phi,
        cells_n=PAST.cells_n,
        cells_mean=PAST.cells_mean,
        is_same_hours=True,
    )
    assert return_of(minutes([0.0] * 30), unknown, ALL, -0.2, NOW) is None


@settings(max_examples=50, deadline=None)
@given(change=st.floats(-0.3, 0.3), seed=st.integers(0, 1000), length=st.integers(1, 60))
def test_up_and_down_are_alike(change: float, seed: int, length: int) -> None:
    sums = minutes([change] * length + [0.0] * 10, seed)
    mirrored = sums.copy()
    mirrored[1] = 2 * sums[0] * PAST.mean - sums[1]
    there = return_of(sums, PAST, ALL, change, NOW)
    other = return_of(mirrored, PAST, ALL, -change, NOW)
    assert (there is None) == (other is None)
    if there is not None and other is not None:
        assert there.since == other.since
        assert there.change == pytest.approx(-other.change)
