"""The detector of sustained drops: what it sees, what it leaves alone, and that it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from alerts.drift.detect import (
    BINS,
    VALUES,
    DriftRules,
    Tick,
    accept,
    anchor,
    step,
    threshold,
)
from alerts.drift.profile import overdispersion, tempering
from alerts.drift.sight import look
from alerts.drift.state import DAY, DriftState, Floats, States, empty, numbers, restored

RULES = DriftRules(threshold=threshold(12, 100, 8))
START = 1_772_323_200
TICK, WEEK = 300, 2016
SHAPE = np.array([0.04, *[0.0] * 11, 0.06, 0.08, 0.1, 0.12, 0.1, 0.1, 0.1, 0.1, 0.2])
SHAPE = SHAPE / SHAPE.sum()


@dataclass(kw_only=True)
class Stream:
    """Scores of one shape; `drop` of them are lost to 0, `rate` are judged an hour."""

    rate: float = 120.0
    drop: float = 0.0
    shape: Floats = field(default_factory=lambda: SHAPE)


def lowered(shape: Floats, drop: float) -> Floats:
    """The shape with its mean lowered by moving a share of all scores to 0."""
    share = drop / float(shape @ VALUES)
    moved = shape * (1 - share)
    moved[0] += share
    return np.asarray(moved)


def run(
    states: States,
    streams: list[Stream],
    ticks: range,
    *,
    seed: int = 1,
    pool: list[int] | None = None,
    most: float = np.inf,
) -> list[int]:
    """Steps the states by these ticks; returns the states' sum of alarms by tick."""
    shapes = np.array([lowered(stream.shape, stream.drop) for stream in streams])
    rates = np.array([stream.rate for stream in streams]) / 12
    pools = np.array(pool or [-1] * len(states))
    alarms = []
    for number in ticks:
        rng = np.random.default_rng((seed, number))
        counts = np.zeros((len(states), BINS))
        counts[: len(streams)] = rng.multinomial(rng.poisson(rates), shapes)
        time = START + (number + 1) * TICK
        step(states, Tick(time, counts, pools, np.full(len(states), most)), RULES)
        alarms.append(int(np.isin(states["state"], (DriftState.ALARM,)).sum()))
    return alarms


@pytest.mark.slow
def test_forty_healthy_series_stay_quiet_for_two_weeks() -> None:
    states = empty(40)
    alarms = run(states, [Stream(rate=30 + 10 * row) for row in range(40)], range(2 * WEEK))
    # 0 alarms in 80 series-weeks; bench/drift.py measures more.
    assert max(alarms) == 0
    assert (states["state"] == DriftState.OK).all()


def test_a_drop_is_an_alarm_with_its_onset_and_size() -> None:
    states = empty(8)
    run(states, [Stream()] * 8, range(2 * WEEK))
    alarms = run(states, [Stream(drop=0.1)] * 8, range(2 * WEEK, 2 * WEEK + 288))
    assert alarms[-1] == 8
    assert alarms.index(4) < 72
    onset = START + 2 * WEEK * TICK
    assert np.median(np.abs(states["onset"] - onset)) < 3600
    change = states["recent_residual"] / states["recent_n"]
    assert np.abs(np.median(change) + 0.1) < 0.03


def test_a_series_without_traffic_changes_nothing() -> None:
    states = empty(1)
    run(states, [Stream()], range(WEEK))
    before = states.copy()
    run(states, [Stream(rate=0.0)], range(WEEK, WEEK + 600))
    assert (states == before).all()


def test_a_new_process_goes_on_bit_for_bit() -> None:
    streams = [Stream(rate=60 + row) for row in range(5)]
    whole = empty(6)
    run(whole, streams, range(WEEK), pool=[5, 5, 5, -1, -1, -1])
    parts = empty(6)
    for first in range(0, WEEK, 97):
        parts = restored(numbers(parts))
        run(parts, streams, range(first, min(first + 97, WEEK)), pool=[5, 5, 5, -1, -1, -1])
    assert numbers(parts).tobytes() == numbers(whole).tobytes()


def test_a_drop_is_over_when_the_scores_are_back_and_comes_again_as_the_same() -> None:
    states = empty(1)
    run(states, [Stream()], range(WEEK))
    run(states, [Stream(drop=0.15)], range(WEEK, WEEK + 144))
    assert states["state"][0] == DriftState.ALARM
    onset = float(states["onset"][0])
    run(states, [Stream()], range(WEEK + 144, WEEK + 220))
    assert states["state"][0] == DriftState.RECOVERING
    run(states, [Stream(drop=0.15)], range(WEEK + 220, WEEK + 360))
    assert states["state"][0] == DriftState.ALARM
    assert float(states["onset"][0]) == onset


@pytest.mark.slow
def test_a_drop_that_lasts_is_proposed_and_accepted_as_the_usual_level() -> None:
    states = empty(1)
    run(states, [Stream()], range(WEEK))
    usual = float(states["total"].sum() / states["n"].sum())
    run(states, [Stream(drop=0.1)], range(WEEK, 2 * WEEK + 144))
    assert states["state"][0] == DriftState.SHIFTED
    # Days in alarm are no usual days.
    assert float(states["total"].sum() / states["n"].sum()) == pytest.approx(usual, abs=0.02)
    accept(states)
    alarms = run(states, [Stream(drop=0.1)], range(2 * WEEK + 144, 2 * WEEK + 900))
    assert max(alarms) == 0
    assert max(run(states, [Stream(drop=0.25)], range(2 * WEEK + 900, 2 * WEEK + 1044))) == 1


@pytest.mark.slow
def test_routes_in_another_mix_are_no_drop_of_their_pool() -> None:
    good, poor = Stream(rate=100, shape=SHAPE), Stream(rate=100, shape=lowered(SHAPE, 0.4))
    states = empty(3)
    run(states, [good, poor], range(WEEK), pool=[2, 2, -1])
    good.rate, poor.rate = 30, 300
    alarms = run(states, [good, poor], range(WEEK, 2 * WEEK), pool=[2, 2, -1])
    assert max(alarms) == 0


@pytest.mark.slow
def test_a_pool_sees_what_its_routes_are_too_small_for() -> None:
    small = [Stream(rate=8) for _ in range(10)]
    states = empty(11)
    pool = [10] * 10 + [-1]
    run(states, small, range(2 * WEEK), pool=pool)
    worse = [Stream(rate=8, drop=0.07) for _ in range(10)]
    first = 2 * WEEK
    for number in range(first, first + 288):
        run(states, worse, range(number, number + 1), pool=pool)
        if states["state"][10] == DriftState.ALARM:
            break
    assert states["state"][10] == DriftState.ALARM
    assert (states["state"][:10] == DriftState.ALARM).sum() <= 2


def test_a_share_of_failures_is_followed_upside_down() -> None:
    few = np.zeros(BINS)
    few[0], few[-1] = 0.04, 0.96
    states = empty(4)
    run(states, [Stream(rate=200, shape=few)] * 4, range(WEEK))
    alarms = run(states, [Stream(rate=200, shape=few, drop=0.08)] * 4, range(WEEK, WEEK + 144))
    assert alarms[-1] == 4


def test_one_hour_of_many_failures_is_no_sustained_drop_of_all_traffic() -> None:
    few = np.zeros(BINS)
    few[0], few[-1] = 0.04, 0.96
    states = empty(1)
    most = RULES.threshold / 36
    run(states, [Stream(rate=400, shape=few)], range(WEEK), most=most)
    burst = Stream(rate=400, shape=few, drop=0.13)
    alarms = run(states, [burst], range(WEEK, WEEK + 12), most=most)
    alarms += run(states, [Stream(rate=400, shape=few)], range(WEEK + 12, WEEK + 100), most=most)
    assert max(alarms) == 0


def test_a_drop_right_after_a_release_needs_less_evidence() -> None:
    minutes = []
    for is_anchored in (False, True):
        states = empty(16)
        run(states, [Stream(rate=60)] * 16, range(WEEK))
        if is_anchored:
            anchor(states, START + WEEK * TICK)
        alarms = run(states, [Stream(rate=60, drop=0.1)] * 16, range(WEEK, WEEK + 400))
        minutes.append(next(place for place, count in enumerate(alarms) if count >= 8) * 5)
    assert minutes[1] < minutes[0]


@pytest.mark.slow
def test_noise_that_lasts_an_hour_lowers_the_weight_of_the_evidence() -> None:
    states = empty(1)
    for day in range(14):
        for hour in range(24):
            by = 0.05 if (day * 7 + hour * 5) % 3 else 0.0
            first = (day * 24 + hour) * 12
            run(states, [Stream(rate=600, drop=by)], range(first, first + 12))
    assert overdispersion(states)[0] > 2


def test_the_threshold_grows_with_the_fleet() -> None:
    assert threshold(12, 100, 8) == pytest.approx(12.2, abs=0.05)
    assert threshold(500, 100, 8) == pytest.approx(15.9, abs=0.05)
    assert threshold(1, 100, 8) == threshold(12, 100, 8)


@pytest.mark.slow
def test_what_a_series_can_see_shrinks_with_its_traffic() -> None:
    states, pool = empty(3), np.array([2, 2, -1])
    look(states, pool, RULES)
    assert (states["sees"] == 0).all()
    run(states, [Stream(rate=10), Stream(rate=200)], range(2 * WEEK), pool=[2, 2, -1])
    look(states, pool, RULES)
    small, busy, pooled = states["sees"]
    assert pooled < busy < 0.05 < small < 0.25


def test_learning_ends_within_a_day_on_small_routes() -> None:
    states = empty(1)
    run(states, [Stream(rate=3)], range(17 * 12))
    assert states["state"][0] == DriftState.LEARNING
    run(states, [Stream(rate=3)], range(17 * 12, DAY // TICK))
    assert states["state"][0] == DriftState.OK


def test_alike_answers_that_come_together_are_no_drop_of_a_new_series() -> None:
    rng, states = np.random.default_rng(2), empty(24)
    rates = np.resize([60.0, 300.0, 600.0], 24)
    left, good = np.zeros(24), np.zeros(24)
    alarms = 0
    for number in range(3 * 288):
        counts = np.zeros((24, BINS))
        for row, n in enumerate(rng.poisson(rates / 12)):
            # Answers come in 25s, with a share of good ones of their own.
            while n > 0:
                if not left[row]:
                    left[row], good[row] = 25, rng.beta(0.6, 1.4)
                some = min(n, left[row])
                hits = rng.binomial(some, good[row])
                counts[row, -1] += hits
                counts[row, 0] += some - hits
                left[row] -= some
                n -= some
        time = START + (number + 1) * TICK
        step(states, Tick(time, counts, np.full(24, -1), np.full(24, np.inf)), RULES)
        alarms += int((states["alarmed"] == time).sum())
    assert (states["state"] != DriftState.LEARNING).all()
    assert alarms <= 1


def test_a_day_half_way_to_an_alarm_waits_until_the_alarm_comes_or_does_not() -> None:
    states = empty(2)
    run(states, [Stream()] * 2, range(4 * 288))
    usual = states["n"].sum(axis=1)
    states["evidence"] = RULES.threshold * 0.7
    run(states, [Stream()] * 2, range(4 * 288, 4 * 288 + 1))
    assert (states["n"].sum(axis=1) == usual).all()
    assert (states["today_n"].sum(axis=1) > 2000).all()
    states["evidence"][0] = 0.0
    states["state"][1] = DriftState.ALARM
    states["depth"][1] = -0.9
    states["recent_residual"][1] = -0.9 * states["recent_n"][1]
    run(states, [Stream(), Stream(drop=0.3)], range(4 * 288 + 1, 5 * 288 + 1))
    added, thrown_away = states["n"].sum(axis=1)
    assert added > usual[0] + 4000
    assert thrown_away == usual[1]


def test_evidence_weighs_less_while_few_blocks_tell_how_they_vary() -> None:
    states = empty(3)
    for name in ("blocks", "weights", "spread"):
        states[name] = (0, 12, 120)
    assert tempering(states, RULES.threshold).round(1).tolist() == [14.2, 2.1, 1.1]


@pytest.mark.parametrize(("lasting", "phi"), [(0.0, 2.0), (30.0, 2.0), (120.0, 3.5)])
def test_blocks_that_are_like_the_ones_before_them_weigh_less(lasting: float, phi: float) -> None:
    """A little likeness of a hundred blocks is chance."""
    states = empty(1)
    states["blocks"], states["spread"], states["lasting"] = 100.0, 206.0, lasting
    assert overdispersion(states)[0] == pytest.approx(phi, rel=0.03)
