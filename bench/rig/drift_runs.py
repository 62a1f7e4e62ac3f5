"""Runs of the detector over many series: false alarms, delays, boosts, an outage, a new judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from alerts.deltas.windows import Ints
from alerts.drift.bridge import Offset, bridged
from alerts.drift.detect import DOWN, VALUES, DriftRules, Tick, step
from alerts.drift.state import DriftState, Floats, States, empty
from bench.rig.drift_streams import TICK

START = 1_772_323_200
WEEK = 2016
BOOST, BOOST_AT, BOOST_UNTIL = 50 / 7, 4.0, 1.5
"""A route judged at 7 % is judged at 50 % while it is suspected."""


class Stream(Protocol):
    """Draws the histograms of one tick."""

    def draw(self, tick: int, drop: Floats, boost: Floats) -> Floats:
        """Histograms of a tick (its end, seconds), shape (series, bins)."""
        ...


@dataclass(kw_only=True)
class Outcome:
    """What a run showed; `minutes` from onset to alarm by series, infinite where there was none.

    `early` are the alarms of the weeks before those that count.
    """

    alarms: int = 0
    series_weeks: float = 0.0
    early: int = 0
    early_weeks: float = 0.0
    episodes: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    minutes: Floats = field(default_factory=lambda: np.zeros(0))
    boost_cost: float = 1.0
    plain: int = 0


def watched(
    stream: Stream,
    series: int,
    rules: DriftRules,
    *,
    warm_weeks: int,
    weeks: float,
    drop: float = 0.0,
    onsets: Ints | None = None,
    boosts: bool = False,
    ends_after: int = 10**9,
) -> Outcome:
    """Runs the detector; alarms count after `warm_weeks`, and before a series' onset.

    `onsets` are ticks; a drop ends `ends_after` ticks later.
    """
    states, boost, cost = empty(series), np.ones(series), 0.0
    begin = np.full(series, 10**9) if onsets is None else onsets
    seen = Outcome(minutes=np.full(series, np.inf), episodes=np.zeros(series, dtype=np.int64))
    plain = PlainThreshold(series)
    pool, most = np.full(series, -1), np.full(series, np.inf)
    for number in range(int((warm_weeks + weeks) * WEEK)):
        is_down = (number >= begin) & (number < begin + ends_after)
        time = START + (number + 1) * TICK
        counts = stream.draw(time, np.where(is_down, drop, 0.0), boost)
        was, onset = states["state"].copy(), states["onset"].copy()
        step(states, Tick(time, counts, pool, most), rules)
        raised = np.isin(states["state"], DOWN) & ~np.isin(was, DOWN)
        fires = plain.fires(number, counts)
        if number < warm_weeks * WEEK:
            seen.early += int(raised.sum())
            seen.early_weeks += series / WEEK
            continue
        is_healthy = number < begin
        after = raised & ~is_healthy
        _count_healthy(seen, raised, fires, is_healthy)
        seen.episodes += after & (states["onset"] != onset)
        first = after & np.isinf(seen.minutes)
        seen.minutes[first] = (number + 1 - begin[first]) * TICK / 60
        cost += float(boost[is_healthy].sum())
        boost = _boosted(boost, states) if boosts else boost
    seen.boost_cost = cost / max(seen.series_weeks * WEEK, 1.0)
    return seen


def _count_healthy(
    seen: Outcome, raised: np.ndarray, fires: np.ndarray, is_healthy: np.ndarray
) -> None:
    seen.alarms += int((raised & is_healthy).sum())
    seen.series_weeks += float(is_healthy.sum()) / WEEK
    seen.plain += int((fires & is_healthy).sum())


def _boosted(boost: Floats, states: States) -> Floats:
    highest = states["cusum"].max(axis=1)
    return np.where(highest >= BOOST_AT, BOOST, np.where(highest < BOOST_UNTIL, 1.0, boost))


class PlainThreshold:
    """The rule of comparison: the mean of an hour 3 points under that of a day, for 30 minutes."""

    def __init__(self, series: int) -> None:
        self._sums = np.zeros((288, 2, series))
        self._day, self._hour = np.zeros((2, series)), np.zeros((2, series))
        self._lasts = np.zeros(series)

    def fires(self, number: int, counts: Floats) -> np.ndarray:
        """Whether the rule fires now, once an episode."""
        sums = np.stack([counts.sum(axis=1), counts @ VALUES])
        self._day += sums - self._sums[number % 288]
        self._hour += sums - self._sums[(number - 12) % 288]
        self._sums[number % 288] = sums
        if number < 288:
            return np.zeros(counts.shape[0], dtype=np.bool_)
        mean = [part[1] / np.maximum(part[0], 1) for part in (self._hour, self._day)]
        is_low = (self._hour[0] > 0) & (mean[0] - mean[1] < -0.03)
        self._lasts = np.where(is_low, self._lasts + 1, 0)
        return np.asarray(self._lasts == 6)


@dataclass(frozen=True, kw_only=True)
class JudgeChange:
    """A new judge by series: at a tick, its scores `harsher` lower; 15 minutes of outage before."""

    at: Ints
    harsher: Floats
    has_canary: bool


OUTAGE = (500, 3)
"""The judge is away so many ticks before the change, for so many ticks."""


def two_weeks(
    stream: Stream,
    rules: DriftRules,
    change: JudgeChange,
    rng: np.random.Generator,
    *,
    warm_weeks: int,
) -> tuple[Ints, Floats]:
    """Two weeks with an outage of the judge and a new judge: alarms and longest silence by series.

    The silence is in hours.
    """
    series = len(change.at)
    states = empty(series)
    alarms, silent, longest = np.zeros(series, dtype=np.int64), np.zeros(series), np.zeros(series)
    pool, most = np.full(series, -1), np.full(series, np.inf)
    for number in range((warm_weeks + 2) * WEEK):
        for row in np.flatnonzero(number == change.at):
            offset = _canary(rng, float(change.harsher[row])) if change.has_canary else None
            states[row] = bridged(states[row : row + 1], offset, START + number * TICK)[0]
        time = START + (number + 1) * TICK
        drop = np.where(number >= change.at, change.harsher, 0.0)
        counts = stream.draw(time, drop, np.ones(series))
        since = number - (change.at - OUTAGE[0])
        counts[(since >= 0) & (since < OUTAGE[1])] = 0.0
        was = states["state"].copy()
        step(states, Tick(time, counts, pool, most), rules)
        if number >= warm_weeks * WEEK:
            alarms += np.isin(states["state"], DOWN) & ~np.isin(was, DOWN)
            silent = np.where(states["state"] == DriftState.LEARNING, silent + 1, 0)
            longest = np.maximum(longest, silent * TICK / 3600)
    return alarms, longest


def _canary(rng: np.random.Generator, harsher: float) -> Offset:
    """What 60 frozen answers say of the new judge: noisy, and by another part of the scale."""
    shifts = -harsher * 1.3 + 0.2 * rng.standard_normal(60)
    return Offset(shift=float(shifts.mean()), error=float(shifts.std() / np.sqrt(60)))
