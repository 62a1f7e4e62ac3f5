"""Deltas: what moved, by how much, since when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from alerts.deltas.compute import Columns, compute
from alerts.deltas.windows import WINDOWS, Sums
from alerts.settings import AlertsSettings
from tests.unit.alerts.score_streams import DAY, HOUR, START, rollups, series, steady

RULES = AlertsSettings()
NOW = START + 8 * DAY
ONSET = NOW - 6 * HOUR


def at_now(times: np.ndarray, values: np.ndarray, now: int = NOW) -> dict[str, Columns]:
    sums = Sums(rollups(times, values, end=now))
    return {columns.window: columns for columns in compute(sums, np.array([now]), RULES)}


def dropped(rng: np.random.Generator, an_hour: int = 40) -> tuple[np.ndarray, np.ndarray]:
    return steady(rng, 8, an_hour, lambda time: np.where(time < ONSET, 0.95, 0.60))


def test_a_drop_six_hours_ago_is_named_with_its_hour() -> None:
    hits = 0
    for seed in range(20):
        row = at_now(*dropped(np.random.default_rng(seed)))["6h"]
        assert row.moved[0, 0] == -1
        assert row.low[0, 0] < -0.35 < row.high[0, 0] < -0.02 or seed  # 95 %: not in every stream
        assert abs(row.since[0, 0] - ONSET) <= HOUR
        hits += row.since[0, 0] == ONSET
    assert hits >= 17


def test_a_partly_affected_first_hour_counts() -> None:
    start = ONSET + 20 * 60
    hits = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        times, values = steady(rng, 8, 60, lambda time: np.where(time < start, 0.98, 0.5))
        hits += at_now(times, values)["6h"].since[0, 0] == ONSET
    assert hits >= 17


def test_a_steady_series_has_seldom_moved() -> None:
    moved = 0
    for seed in range(60):
        times, values = steady(np.random.default_rng(seed), 8, 60, lambda t: np.full(len(t), 0.8))
        moved += bool(at_now(times, values)["6h"].moved[0, 0])
    assert moved <= 3


def test_the_interval_covers_no_change_in_95_of_100() -> None:
    inside = []
    for seed in range(150):
        times, values = steady(np.random.default_rng(seed), 8, 20, lambda t: np.full(len(t), 0.9))
        row = at_now(times, values)["6h"]
        inside.append(row.low[0, 0] <= 0 <= row.high[0, 0])
    assert np.mean(inside) >= 0.92


def test_a_rise_is_a_movement_too() -> None:
    rng = np.random.default_rng(1)
    times, values = steady(rng, 8, 40, lambda time: np.where(time < ONSET, 0.6, 0.95))
    row = at_now(times, values)["6h"]
    assert row.moved[0, 0] == 1
    assert abs(row.since[0, 0] - ONSET) <= HOUR


def test_the_baseline_is_that_of_the_same_hours() -> None:
    def by_hour(time: np.ndarray) -> np.ndarray:
        return np.where(time // HOUR % 24 < 12, 0.9, 0.5)

    times, values = steady(np.random.default_rng(2), 8, 100, by_hour)
    row = at_now(times, values)["6h"]  # ends at midnight: evening hours
    assert row.same_hours[0, 0]
    assert row.baseline[0, 0] == pytest.approx(0.5, abs=0.03)
    naive = [
        values[(times >= NOW - day * DAY - 6 * HOUR) & (times < NOW - day * DAY)]
        for day in range(1, 8)
    ]
    assert row.baseline[0, 0] == pytest.approx(np.concatenate(naive).mean())


def test_the_baseline_is_flat_while_few_days_exist() -> None:
    now = START + 2 * DAY
    times, values = steady(np.random.default_rng(3), 2, 50, lambda t: np.full(len(t), 0.8))
    row = at_now(times, values, now)["30m"]
    assert not row.same_hours[0, 0]
    assert row.baseline[0, 0] == pytest.approx(values[times < now - 1800].mean())


def test_without_a_past_there_is_a_mean_but_no_delta() -> None:
    now = START + DAY
    times = np.arange(now - 600, now, 60)
    row = at_now(times, np.ones(len(times)), now)["15m"]
    assert row.mean[0, 0] == 1.0
    assert np.isnan(row.delta[0, 0])
    assert not row.moved[0, 0]


def test_two_bad_answers_are_no_movement() -> None:
    times, values = steady(np.random.default_rng(4), 7, 30, lambda t: np.full(len(t), 1.0))
    times, values = np.append(times, [NOW - 600, NOW - 300]), np.append(values, [0.0, 0.0])
    row = at_now(times, values)["6h"]
    assert row.delta[0, 0] == -1.0
    assert not row.moved[0, 0]


def test_hours_that_swing_together_widen_the_interval() -> None:
    rng = np.random.default_rng(6)
    hourly = rng.uniform(0.4, 1.0, 24 * 9)
    times, values = steady(rng, 8, 60, lambda time: hourly[(time - START) // HOUR])
    row = at_now(times, values)["24h"]
    assert row.overdispersion[0, 0] > 5
    assert row.n_effective[0, 0] < row.n[0, 0] / 5


def test_independent_scores_are_not_overdispersed() -> None:
    times, values = steady(np.random.default_rng(7), 8, 60, lambda t: np.full(len(t), 0.7))
    assert at_now(times, values)["24h"].overdispersion[0, 0] < 1.4


def test_a_drop_of_the_last_hours_does_not_hide_itself_in_the_overdispersion() -> None:
    assert at_now(*dropped(np.random.default_rng(8)))["6h"].overdispersion[0, 0] < 1.5


@pytest.mark.parametrize(("minutes", "held"), [(20, False), (75, True), (240, True)])
def test_a_drop_is_sustained_when_it_held_as_long_as_the_window(minutes: int, held: bool) -> None:
    start = NOW - minutes * 60
    rng = np.random.default_rng(9)
    times, values = steady(rng, 8, 240, lambda time: np.where(time < start, 0.95, 0.75))
    assert at_now(times, values)["30m"].sustained_drop[0, 0] == held


def test_only_the_30_and_90_minute_rows_carry_the_flag() -> None:
    found = at_now(*dropped(np.random.default_rng(10), an_hour=200))
    assert [window for window, row in found.items() if row.sustained_drop[0, 0]] == ["30m", "90m"]


def test_a_rise_of_failures_is_a_sustained_drop_of_quality() -> None:
    rng = np.random.default_rng(11)
    times, values = steady(rng, 8, 240, lambda time: np.where(time < ONSET, 0.05, 0.4))
    names = ("citation_validity:failed", "refusal:refused", "citation_validity")
    three = rollups(
        np.tile(times, 3),
        np.tile(values, 3),
        end=NOW,
        of=tuple(series(name) for name in names),
        index=np.repeat(np.arange(3), len(times)),
    )
    found = compute(Sums(three), np.array([NOW]), RULES)[1]
    assert found.sustained_drop[0].tolist() == [True, False, False]


def test_ticks_computed_together_equal_ticks_computed_alone() -> None:
    sums = Sums(rollups(*dropped(np.random.default_rng(12)), end=NOW))
    ticks = np.arange(NOW - 2 * HOUR, NOW + 1, 300)
    together = compute(sums, ticks, RULES)
    for place in (0, 7, len(ticks) - 1):
        alone = compute(sums, ticks[place : place + 1], RULES)
        for many, single in zip(together, alone, strict=True):
            for name in ("mean", "delta", "low", "high", "sustained_drop", "moved", "since"):
                np.testing.assert_array_equal(getattr(many, name)[place], getattr(single, name)[0])


def test_the_pinned_release_is_a_baseline_of_its_own() -> None:
    sums = Sums(rollups(*dropped(np.random.default_rng(13)), end=NOW))
    none = np.zeros(1, dtype=np.int64)
    counts = np.array([500.0, 400.0, 400.0, 100.0, 0.0])[:, None, None]
    release = replace(sums.tally(none, none), counts=counts)
    row = compute(sums, np.array([NOW]), RULES, release=release)[3]
    assert row.release_baseline[0, 0] == 0.8
    assert row.release_delta[0, 0] == pytest.approx(row.mean[0, 0] - 0.8)
    assert row.release_low[0, 0] < row.release_delta[0, 0] < row.release_high[0, 0]


def test_the_detection_limit_shrinks_with_the_window() -> None:
    found = at_now(*dropped(np.random.default_rng(14)))
    limits = [found[window].detection_limit[0, 0] for window in WINDOWS]
    assert limits == sorted(limits, reverse=True)
    assert 0 < limits[-1] < limits[0] <= 1


def test_hours_without_traffic_do_not_end_a_movement() -> None:
    rng = np.random.default_rng(15)
    times, values = dropped(rng)
    quiet = (times >= NOW - 4 * HOUR) & (times < NOW - 2 * HOUR)
    assert at_now(times[~quiet], values[~quiet])["6h"].since[0, 0] == ONSET


def test_a_movement_that_is_over_has_no_since() -> None:
    rng = np.random.default_rng(16)
    back = NOW - HOUR

    def mean(time: np.ndarray) -> np.ndarray:
        return np.where((time >= ONSET) & (time < back), 0.3, np.where(time < back, 0.95, 1.0))

    row = at_now(*steady(rng, 8, 60, mean))["6h"]
    assert row.moved[0, 0] == -1
    assert row.since[0, 0] == 0
