"""The detector of sustained drops: one step a tick, all series at once. Pure.

A seasonal, tempered, betting e-detector of the Shiryaev-Roberts kind (Shin, Ramdas and Rinaldo,
"E-detectors", arXiv 2203.03532). Each bet wins where scores fall under the usual level of their
hour; its gain is divided by the overdispersion of the means of two hours. Pooled series add the
evidence of their routes, each against its own level, so that another mix of routes is no drop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alerts.drift.profile import learn, overdispersion, roll, statistic, tempering, usual
from alerts.drift.state import BETS, DAY, DriftState, Floats, Ints, States

BINS = 21
VALUES = np.linspace(0.0, 1.0, BINS)
"""The score of each bin of a histogram."""
TICKS_PER_WEEK = 2016
SUSPECT_BELOW = 3.2
"""A series is suspect this far under the threshold."""
USUAL_SPREAD = 0.25
"""The bets are made for scores that vary by so much. Where they vary more, as shares do, stakes are
smaller: dozens of alike answers would win a large one, and are no drop."""
SURE_STAKE = 0.9
"""Largest share of all that a bet may lose by one perfect score."""
RECENT_SCORES = 300
BACK_WITHIN, BACK_SHARE = 0.02, 0.5
"""A drop is over once the last scores are surely no further under the usual level than the larger
of this and half the drop; proving less of a deep drop would take hours more."""
ONE_SIDED = 1.645
ANCHORED_ODDS = 1000
"""The threshold right after a release, against that many for one series."""
ANCHORED_SECONDS = 7 * DAY
LISTENING = (DriftState.OK, DriftState.SUSPECT, DriftState.RECOVERING)
DOWN = (DriftState.ALARM, DriftState.SHIFTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftRules:
    """How sensitive the detector is. `threshold` is that of `threshold`; `slack` is tolerated."""

    threshold: float
    slack: float = 0.01
    shifted_days: float = 7.0
    least_weeks: float = 100.0

    @property
    def anchored_threshold(self) -> float:
        """The threshold of the test after a release; it grows with the fleet as the other does."""
        grown = self.threshold - math.log(TICKS_PER_WEEK * self.least_weeks)
        return math.log(ANCHORED_ODDS) + max(0.0, grown)


@dataclass(frozen=True, slots=True)
class Tick:
    """The scores of a tick: `time` is its end in seconds.

    `counts` are histograms of the first rows of the states, shape (series, BINS); `pool` is the
    row of each series' pool, -1 for none. `most` limits the evidence of one tick by row. `rank`
    orders the rows: sums over a pool are the same bit for bit only in the same order.
    """

    time: int
    counts: Floats
    pool: Ints
    most: Floats
    rank: Ints | None = None


def threshold(series: int, weeks_of_series: float, weeks_of_fleet: float) -> float:
    """The statistic that is an alarm, so that false ones are rare: by series, and over all.

    >>> round(threshold(12, 100, 8), 1), round(threshold(500, 100, 8), 1)
    (12.2, 15.9)
    """
    return math.log(TICKS_PER_WEEK * max(weeks_of_series, weeks_of_fleet * series))


def step(states: States, tick: Tick, rules: DriftRules) -> None:
    """Brings the states of all series with scores in a tick, and their pools, up to date."""
    own = np.flatnonzero(tick.counts.sum(axis=1))
    if tick.rank is not None:
        own = own[np.argsort(tick.rank[own])]
    pools = np.unique(tick.pool[own])
    pools = pools[pools >= 0]
    if not len(own):
        return
    rows = np.concatenate([own, pools])
    changed = states[rows]
    roll(changed, tick.time, rules.threshold)
    routes, place = changed[: len(own)], np.searchsorted(pools, tick.pool[own])
    gain, n, residual, level = _observe(routes, tick, tick.counts[own], rules)
    is_pooled = tick.pool[own] >= 0
    # What is in alarm by itself does not raise its pool, too.
    heard = is_pooled & np.isin(routes["state"], LISTENING)
    pooled = _pooled(changed[len(own) :], routes, place, heard, (gain, n, residual, n * level))
    gain, n, residual, total = (
        np.concatenate([each, more])
        for each, more in zip((gain, n, residual, n * level), pooled, strict=True)
    )
    _remember(changed, n, residual, total)
    _bet(changed, gain / tempering(changed, rules.threshold)[:, None], n, tick, tick.most[rows])
    _judge(changed, n, tick.time, rules)
    changed["tick"] = tick.time
    states[rows] = changed


def accept(states: States) -> None:
    """Makes the level of the last scores the usual one."""
    shift = states["recent_residual"] / np.maximum(states["recent_n"], 1e-9)
    states["total"] = np.clip(states["total"] + shift[:, None] * states["n"], 0.0, states["n"])
    states["state"], states["cleared"] = DriftState.OK, states["tick"]
    states["recent_residual"] = 0.0
    _forget_evidence(states, np.ones(len(states), dtype=np.bool_))


def anchor(states: States, time: int) -> None:
    """Starts a test of what follows a release, unless one of the last day still runs."""
    starts = (time - states["anchor"] >= DAY) & np.isin(states["state"], LISTENING)
    states["anchored"] = np.where(starts[:, None], 0.0, states["anchored"])
    states["anchor"] = np.where(starts, time, states["anchor"])


def _observe(
    states: States, tick: Tick, counts: Floats, rules: DriftRules
) -> tuple[Floats, Floats, Floats, Floats]:
    """Gains of the bets, scores, their residuals and usual level; learns the scores."""
    known = usual(states, tick.time, rules.threshold)
    n, total = counts.sum(axis=1), counts @ VALUES
    learn(states, tick.time, n, total, counts @ VALUES**2)
    learnt = known.is_ready & (states["state"] == DriftState.LEARNING)
    states["state"] = np.where(learnt, DriftState.OK, states["state"])
    states["zero"] = np.where(learnt[:, None], tick.time, states["zero"])
    is_heard = states["state"] != DriftState.LEARNING
    level = known.level - rules.slack - known.allowance
    bets = BETS * np.minimum(1.0, USUAL_SPREAD / np.sqrt(states["variance"]))[:, None]
    stake = np.minimum(bets, SURE_STAKE / (1 - level)[:, None])
    won = np.log1p(stake[:, :, None] * (level[:, None, None] - VALUES))
    gain = np.einsum("rk,rjk->rj", counts, won) * is_heard[:, None]
    # A level that is known tells how blocks vary before drops are looked for.
    n = n * (is_heard | known.is_known)
    return gain, n, (total - n * known.level) * (n > 0), known.level


def _pooled(
    pools: States,
    routes: States,
    place: Ints,
    heard: NDArray[np.bool_],
    of_routes: tuple[Floats, ...],
) -> list[Floats]:
    """Sums what the routes of each pool give."""
    sums = []
    for values in of_routes:
        of_pools = np.zeros((len(pools), *values.shape[1:]))
        np.add.at(of_pools, place[heard], values[heard])
        sums.append(of_pools)
    weight = np.zeros(len(pools))
    np.add.at(weight, place[heard], routes["variance"][heard] * of_routes[1][heard])
    has_any = sums[1] > 0
    pools["variance"] = np.where(has_any, weight / np.maximum(sums[1], 1e-9), pools["variance"])
    starts = has_any & (pools["state"] == DriftState.LEARNING)
    pools["state"] = np.where(starts, DriftState.OK, pools["state"])
    return sums


def _remember(states: States, n: Floats, residual: Floats, total: Floats) -> None:
    """Adds residuals to those of the block of hours and of the last scores."""
    states["block_n"] += n
    states["block_residual"] += residual
    fade = (1 - 1 / RECENT_SCORES) ** (n / overdispersion(states))
    states["recent_n"] = states["recent_n"] * fade + n
    states["recent_squares"] = states["recent_squares"] * fade**2 + n
    states["recent_residual"] = states["recent_residual"] * fade + residual
    states["recent_profile"] = states["recent_profile"] * fade + total


def _bet(states: States, gain: Floats, n: Floats, tick: Tick, most: Floats) -> None:
    """Adds the gains of a tick to the evidence of the series that listen."""
    listens = np.isin(states["state"], LISTENING) & (n > 0)
    gain = np.minimum(gain, most[:, None])
    cusum = np.maximum(states["cusum"], 0.0) + gain
    tests = listens & (states["anchor"] > 0) & (tick.time > states["anchor"])
    tests &= tick.time - states["anchor"] <= ANCHORED_SECONDS
    heard = listens[:, None]
    evidence = np.logaddexp(0.0, states["evidence"]) + gain
    states["evidence"] = np.where(heard, evidence, states["evidence"])
    states["cusum"] = np.where(heard, cusum, states["cusum"])
    states["zero"] = np.where(heard & (cusum <= 0), tick.time, states["zero"])
    states["anchored"] += np.where(tests[:, None], gain, 0.0)


def _judge(states: States, n: Floats, time: int, rules: DriftRules) -> None:
    """Moves the series between their states."""
    value = statistic(states)
    states["peak"] = np.maximum(states["peak"], value)
    anchored = np.logaddexp.reduce(states["anchored"], axis=1) - math.log(len(BETS))
    is_anchored = (states["anchor"] > 0) & (anchored >= rules.anchored_threshold)
    now = states["state"].copy()
    alarms = np.isin(now, LISTENING) & (n > 0) & ((value >= rules.threshold) | is_anchored)
    _raise(states, alarms, now, time, rules)
    calm = np.isin(now, (DriftState.OK, DriftState.SUSPECT)) & ~alarms
    is_suspect = value >= rules.threshold - SUSPECT_BELOW
    states["state"] = np.where(
        calm, np.where(is_suspect, DriftState.SUSPECT, DriftState.OK), states["state"]
    )
    settled = (now == DriftState.RECOVERING) & ~alarms & (time - states["cleared"] > DAY)
    states["state"] = np.where(settled, DriftState.OK, states["state"])
    was_down = np.isin(now, DOWN)
    low, _ = recent_bounds(states, ONE_SIDED)
    mean = states["recent_residual"] / np.maximum(states["recent_n"], 1e-9)
    depth = np.minimum(states["depth"], mean)
    states["depth"] = np.where(was_down, depth, np.where(alarms, mean, states["depth"]))
    ends = was_down & (n > 0) & (low > np.minimum(-BACK_WITHIN, BACK_SHARE * states["depth"]))
    states["state"] = np.where(ends, DriftState.RECOVERING, states["state"])
    states["cleared"] = np.where(ends, time, states["cleared"])
    _forget_evidence(states, ends)
    lasts = was_down & ~ends & (time - states["alarmed"] >= rules.shifted_days * DAY)
    states["state"] = np.where(lasts, DriftState.SHIFTED, states["state"])


def _raise(
    states: States, alarms: NDArray[np.bool_], before: Floats, time: int, rules: DriftRules
) -> None:
    best = states["cusum"].argmax(axis=1)
    since = states["zero"][np.arange(len(states)), best]
    is_again = before == DriftState.RECOVERING
    states["onset"] = np.where(alarms & ~is_again, since, states["onset"])
    states["alarmed"] = np.where(alarms, time, states["alarmed"])
    states["peak"] = np.where(alarms, np.maximum(states["peak"], rules.threshold), states["peak"])
    states["state"] = np.where(alarms, DriftState.ALARM, states["state"])


def recent_bounds(states: States, errors: float) -> tuple[Floats, Floats]:
    """How far the last scores lie from the usual level: the bounds at that many errors."""
    count = np.maximum(states["recent_n"], 1e-9)
    mean = states["recent_residual"] / count
    spread = states["variance"] * overdispersion(states) * states["recent_squares"]
    half = errors * np.sqrt(spread) / count
    return mean - half, mean + half


def _forget_evidence(states: States, rows: NDArray[np.bool_]) -> None:
    for name in ("evidence", "cusum", "anchored"):
        states[name] = np.where(rows[:, None], 0.0, states[name])
    states["zero"] = np.where(rows[:, None], states["tick"][:, None], states["zero"])
    states["anchor"] = np.where(rows, 0.0, states["anchor"])
