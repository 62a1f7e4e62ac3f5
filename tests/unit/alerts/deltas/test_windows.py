"""A window of roll-ups equals the naive counts of its scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.deltas.windows import TICK_SECONDS, WINDOWS, Sums
from alerts.settings import AlertsSettings
from tests.unit.alerts.score_streams import DAY, HOUR, START, rollups

scores = st.lists(
    st.tuples(st.integers(0, 3 * DAY - 1), st.one_of(st.just(float("nan")), st.floats(0, 1))),
    min_size=1,
    max_size=60,
)


@given(
    scores=scores,
    tick=st.integers(1, 3 * DAY // TICK_SECONDS),
    window=st.sampled_from(sorted(WINDOWS)),
)
def test_a_window_equals_the_naive_mean(
    scores: list[tuple[int, float]], tick: int, window: str
) -> None:
    times = START + np.array([time for time, _ in scores])
    values = np.array([value for _, value in scores])
    sums = Sums(rollups(times, values, end=START + 3 * DAY))

    counts = sums.between(np.array([tick - WINDOWS[window]]), np.array([tick]))

    end = START + tick * TICK_SECONDS
    inside = values[(times >= end - WINDOWS[window] * TICK_SECONDS) & (times < end)]
    seen = inside[~np.isnan(inside)]
    assert counts.n[0, 0] == len(seen)
    assert counts.absent[0, 0] == len(inside) - len(seen)
    assert counts.failed[0, 0] == (seen < 0.5).sum()
    naive = seen.mean() if len(seen) else float("nan")
    assert counts.mean()[0, 0] == pytest.approx(naive, abs=1e-9, nan_ok=True)


def test_no_scores_have_no_mean_and_no_coverage() -> None:
    sums = Sums(rollups(np.array([], dtype=int), np.array([]), end=START + HOUR))
    counts = sums.between(np.array([0]), np.array([12]))
    assert np.isnan(counts.mean()).all()
    assert np.isnan(counts.coverage()).all()


def test_what_lies_before_the_rollups_counts_nothing() -> None:
    sums = Sums(rollups(np.array([START]), np.array([1.0]), end=START + HOUR))
    assert sums.between(np.array([-500]), np.array([-1])).n.tolist() == [[0.0]]
    assert sums.between(np.array([-500]), np.array([1])).n.tolist() == [[1.0]]


def test_equal_scores_keep_an_open_variance() -> None:
    sums = Sums(rollups(np.array([START] * 3), np.ones(3), end=START + HOUR))
    assert sums.between(np.array([0]), np.array([1])).variance()[0, 0] == pytest.approx(0.2)


def test_a_mean_of_which_little_was_seen_is_not_a_number() -> None:
    from alerts.deltas.compute import compute

    values = np.array([1.0] * 4 + [float("nan")] * 6)
    sums = Sums(rollups(np.full(10, START), values, end=START + HOUR))
    day = compute(sums, np.array([START + HOUR]), AlertsSettings())[-1]
    assert np.isnan(day.mean[0, 0])
    assert day.coverage[0, 0] == pytest.approx(0.4)
    assert day.n[0, 0] == 4
