"""The judged mean with a cheap score: what it equals, and what its interval covers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.deltas.two_phase import TwoPhase, sums_of
from alerts.deltas.two_phase import judged_mean as of_sums

VALUES = st.floats(0, 1)


def judged_mean(*records: np.ndarray) -> TwoPhase | None:
    return of_sums(sums_of(*records))


def even(size: int, share: float = 1.0) -> np.ndarray:
    return np.full(size, share)


def test_nothing_judged_is_none_and_not_zero() -> None:
    empty = np.array([])
    assert judged_mean(np.array([0.2, 0.9]), empty, empty.astype(np.int64), empty) is None


def test_the_correction_is_the_slope_times_the_gap_of_the_cheap_score() -> None:
    cheap = np.concatenate([np.arange(10) / 10, even(10, 0.9)])
    place = np.arange(10)
    found = judged_mean(cheap, 0.1 + 0.8 * cheap[place], place, even(10, 0.5))
    assert found is not None
    # The sample shows 0.45 of the cheap score, all records 0.675: 0.46 + 0.8 · 0.225.
    assert found.slope == pytest.approx(0.8)
    assert found.mean == pytest.approx(0.64)
    assert found.low < 0.64 < found.high


def test_a_cheap_score_that_never_varies_leaves_the_plain_mean() -> None:
    judged = np.array([0.0, 1.0] * 10)
    found = judged_mean(even(400, 0.5), judged, np.arange(20), even(20, 0.05))
    assert found is not None
    assert (found.mean, found.slope) == (0.5, 0.0)
    assert found.n_effective == pytest.approx(20)
    half = 2.093 * np.sqrt(judged.var(ddof=1) / 20)
    assert found.high - found.mean == pytest.approx(half, rel=0.01)


def test_few_equal_scores_prove_little() -> None:
    found = judged_mean(even(400, 0.5), even(20), np.arange(20), even(20, 0.05))
    assert found is not None
    assert found.high == 1.0
    assert found.low < 0.95


@pytest.mark.parametrize("size", [1, 2])
def test_one_or_two_scores_say_nothing_of_the_interval(size: int) -> None:
    found = judged_mean(even(9, 0.5), even(size, 0.4), np.arange(size), even(size, 0.1))
    assert found is not None
    assert (found.mean, found.low, found.high) == (pytest.approx(0.4), 0.0, 1.0)


def test_a_missing_cheap_score_neither_counts_as_zero_nor_drops_its_record() -> None:
    rng = np.random.default_rng(1)
    cheap = rng.random(500)
    place = np.arange(0, 500, 10)
    judged = np.clip(cheap[place] + rng.normal(0, 0.05, 50), 0, 1)
    whole = judged_mean(cheap, judged, place, even(50, 0.1))
    cheap[place[:5]] = np.nan
    lacking = judged_mean(cheap, judged, place, even(50, 0.1))
    assert whole is not None
    assert lacking is not None
    assert lacking.n == 50
    assert lacking.mean == pytest.approx(whole.mean, abs=0.05)
    assert judged_mean(even(500, np.nan), judged, place, even(50, 0.1)) is not None


def test_records_that_were_judged_more_often_count_less() -> None:
    """Half of the records are bad and were judged four times as often."""
    judged = np.array([0.0] * 40 + [1.0] * 10)
    probability = np.array([0.4] * 40 + [0.1] * 10)
    found = judged_mean(even(200, 0.5), judged, np.arange(50), probability)
    assert found is not None
    assert found.mean == pytest.approx(0.5)
    assert found.n_effective < 50


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_the_interval_covers_the_truth_and_is_narrower_than_the_plain_one(share: float) -> None:
    rng = np.random.default_rng(5)
    covered, gains = 0, []
    for _ in range(800):
        cheap = np.clip(rng.normal(0.6, 0.15, 1500), 0, 1)
        judged = np.clip(0.5 + 0.8 * (cheap - 0.6) + rng.normal(0, 0.12, 1500), 0, 1)
        place = np.flatnonzero(rng.random(1500) < share)
        found = judged_mean(cheap, judged[place], place, even(len(place), share))
        assert found is not None
        covered += found.low <= 0.5 <= found.high
        gains.append(found.n_effective / found.n)
    assert 0.93 <= covered / 800 <= 0.97
    assert 1.7 <= np.mean(gains) <= 2.1


@given(
    st.lists(st.tuples(VALUES, VALUES, st.floats(0.01, 1)), min_size=1, max_size=40),
    st.lists(VALUES, max_size=40),
)
def test_a_mean_lies_within_its_interval_and_within_scores(
    pairs: list[tuple[float, float, float]], others: list[float]
) -> None:
    cheap, judged, probability = (np.array(column) for column in zip(*pairs, strict=True))
    found = judged_mean(np.concatenate([cheap, others]), judged, np.arange(len(pairs)), probability)
    assert found is not None
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.n_effective > 0
