"""Deltas of rolling means: how far each series is from its own past. Pure.

Per tick, series and window: the mean, corrected where only a sample was judged; the baseline, which
is that of the same hours of the last 7 days (at least an hour of each day, ending at the window's
time of day), or the flat mean of the available past while fewer than 3 of those days have scores;
their difference and its 95 % interval (Welch, with both variances times the overdispersion φ of
hourly means, or times the crowding of questions where that is more).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.measure import Measure, measure
from alerts.deltas.overdispersion import overdispersion
from alerts.deltas.quantiles import student
from alerts.deltas.settings import DeltaSettings
from alerts.deltas.since import onset_hours
from alerts.deltas.windows import (
    DAY,
    HOUR,
    TICK_SECONDS,
    WINDOWS,
    Counts,
    Floats,
    Ints,
    Sums,
    Tally,
)
from ragvigil.model.delta import Series

SUSTAINED = ("30m", "90m")
"""Windows with a flag for sustained drops."""
MOVED = "6h"
"""The window whose interval says whether a series moved."""
SLACK = 0.01
"""A drop that the drift detector tolerates; part of the detection limit, as a share of 1."""
FALSE_ALARM_TICKS = 2016 * 100
"""Ticks between false alarms that the detection limit allows: 100 weeks of 2016 ticks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Deltas of one window: arrays of the shape (ticks, series), NaN where unknown.

    `ticks` are the window's ends, seconds since the epoch. `estimate` is a position in ESTIMATES.
    `same_hours` says which baseline was used, `moved` is -1, 0 or 1, `since` is in seconds, 0 where
    unknown.
    """

    window: str
    ticks: Ints
    series: tuple[Series, ...]
    n: Floats
    n_effective: Floats
    failed: Floats
    coverage: Floats
    mean: Floats
    estimate: Ints
    plain_mean: Floats
    judged_share: Floats
    baseline: Floats
    baseline_n: Floats
    same_hours: NDArray[np.bool_]
    delta: Floats
    low: Floats
    high: Floats
    release_baseline: Floats
    release_delta: Floats
    release_low: Floats
    release_high: Floats
    overdispersion: Floats
    detection_limit: Floats
    sustained_drop: NDArray[np.bool_]
    moved: Ints
    since: Ints

    def has_row(self) -> NDArray[np.bool_]:
        """Where there is anything to say: something was scored or could not be seen."""
        return ~np.isnan(self.coverage)

    def since_tick(self, first: int) -> Columns:
        """Returns the columns without the ticks before `first`."""
        is_since = self.ticks >= first
        arrays = (field.name for field in fields(self) if field.name not in ("window", "series"))
        return replace(self, **{name: getattr(self, name)[is_since] for name in arrays})


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What all windows of one computation share."""

    sums: Sums
    rules: DeltaSettings
    release: Tally | None
    rubrics: Ints
    """For each series the position of that whose answers it counts: a rate's rubric, or itself."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A mean against a baseline: the baseline, the difference and its 95 % interval.

    The baseline is NaN where its coverage is too low to be shown.
    """

    baseline: Floats
    delta: Floats
    low: Floats
    high: Floats


def compute(
    sums: Sums,
    ticks: Ints,
    rules: DeltaSettings,
    *,
    release: Tally | None = None,
) -> list[Columns]:
    """Deltas of every window at `ticks`: consecutive ends of 5 minutes, seconds since the epoch.

    `sums` should reach back 9 days before the first tick. `release` holds the sums of the
    pinned release as one window, 0 where a series has none.
    """
    # A sustained drop needs the ticks of one window before it: they are computed and cut off.
    lead = max(WINDOWS[window] for window in SUSTAINED)
    early = ticks[0] - TICK_SECONDS * np.arange(lead, 0, -1)
    ends = (np.concatenate([early, ticks]) - sums.rollups.start) // TICK_SECONDS
    phi = overdispersion(sums)
    phi = phi[np.clip(ends // HOUR, 0, len(phi) - 1)]
    inputs = _Inputs(sums, rules, release, _rubrics(sums.rollups.series))
    columns_by_window = []
    for window in WINDOWS:
        skip = 0 if window in SUSTAINED else lead
        columns = _window(inputs, ends[skip:], window, phi[skip:])
        columns_by_window.append(columns.since_tick(int(ticks[0])))
    return columns_by_window


def _rubrics(series: Sequence[Series]) -> Ints:
    places = {each: place for place, each in enumerate(series)}
    of_rates = (replace(each, rubric=each.rubric.partition(":")[0]) for each in series)
    return np.array(
        [places.get(each, place) for place, each in enumerate(of_rates)], dtype=np.int64
    )


def _window(inputs: _Inputs, ends: Ints, window: str, phi: Floats) -> Columns:
    sums, rules = inputs.sums, inputs.rules
    sampled = sums.rollups.sampled
    now = measure(sums.tally(ends - WINDOWS[window], ends), sampled, phi)
    tally, same_hours = _baseline(sums, ends, WINDOWS[window], rules)
    past = measure(tally, sampled, phi)
    own = _compare(now, past, phi, rules)
    released = _compare(now, _pinned(inputs, phi), phi, rules)
    moved = _moved(own, now.means.n / phi, rules) if window == MOVED else _none(now.plain.n)
    return Columns(
        window=window,
        ticks=sums.rollups.start + TICK_SECONDS * ends,
        series=sums.rollups.series,
        n=now.plain.n,
        n_effective=now.means.n / phi,
        failed=now.plain.failed,
        coverage=now.plain.coverage(),
        mean=_shown(now.means, now.plain, rules),
        estimate=now.estimate,
        plain_mean=_shown(now.plain, now.plain, rules),
        judged_share=now.judged_share[:, inputs.rubrics],
        baseline=own.baseline,
        baseline_n=past.plain.n,
        same_hours=same_hours,
        delta=own.delta,
        low=own.low,
        high=own.high,
        release_baseline=released.baseline,
        release_delta=released.delta,
        release_low=released.low,
        release_high=released.high,
        overdispersion=phi,
        detection_limit=_detection_limit(now.means, past.means, phi),
        sustained_drop=_sustained(own, sums.rollups.series, window, rules),
        moved=moved,
        since=_since(inputs, ends, moved, now, past, phi),
    )


def _since(
    inputs: _Inputs, ends: Ints, moved: Ints, now: Measure, past: Measure, phi: Floats
) -> Ints:
    # Hourly means are too few to be corrected: plain ones are compared with the plain past.
    baseline = past.plain.mean()
    return onset_hours(
        inputs.sums,
        ends,
        moved,
        baseline=baseline,
        delta=now.plain.mean() - baseline,
        variance=phi * past.plain.variance(),
        points=inputs.rules.moved_points,
    )


def _none(like: Floats) -> Ints:
    return np.zeros(like.shape, dtype=np.int64)


def _baseline(
    sums: Sums, ends: Ints, length: int, rules: DeltaSettings
) -> tuple[Tally, NDArray[np.bool_]]:
    """Returns the sums of the past to compare with, and where they are of the same hours."""
    # At least an hour of each day, however short the window is.
    hours = max(length, HOUR)
    total = sums.tally(ends, ends)
    days = np.zeros(total.counts.shape[1:])
    for day in range(1, rules.baseline_days + 1):
        past = sums.tally(ends - hours - day * DAY, ends - day * DAY)
        total += past
        days += past.counts[0] > 0
    seasonal = days >= min(rules.baseline_min_days, rules.baseline_days)
    flat = sums.tally(ends - length - rules.baseline_days * DAY, ends - length)
    return total.where(seasonal, flat, sums.rollups.sampled), seasonal


def _pinned(inputs: _Inputs, phi: Floats) -> Measure:
    sums = inputs.sums
    none = np.zeros(1, dtype=np.int64)
    pinned = inputs.release or sums.tally(none, none)
    return measure(pinned.over(len(phi)), sums.rollups.sampled, phi)


def _shown(means: Counts, plain: Counts, rules: DeltaSettings) -> Floats:
    """The mean, NaN where too few of the records could be scored."""
    return np.where(plain.coverage() >= rules.min_coverage, means.mean(), np.nan)


def _compare(now: Measure, past: Measure, phi: Floats, rules: DeltaSettings) -> _Comparison:
    counts, before = now.means, past.means
    baseline = _shown(before, past.plain, rules)
    delta = _shown(counts, now.plain, rules) - baseline
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(phi * (counts.variance() / counts.n + before.variance() / before.n))
        # Two values are added to n (see `Counts.variance`), so n + 1 degrees of freedom, where
        # n over φ is the effective number of scores.
        half = student(counts.n / phi + 1) * error
    # Means lie within 0..1, so no difference is beyond 1.
    return _Comparison(baseline, delta, np.clip(delta - half, -1, 1), np.clip(delta + half, -1, 1))


def _moved(compared: _Comparison, n_effective: Floats, rules: DeltaSettings) -> Ints:
    enough = n_effective >= rules.moved_min_scores
    rose = enough & (compared.low > rules.moved_points)
    fell = enough & (compared.high < -rules.moved_points)
    return rose.astype(np.int64) - fell.astype(np.int64)


def _detection_limit(counts: Counts, past: Counts, phi: Floats) -> Floats:
    """The drop that a window of this size can show: slack + sqrt(2 s² φ ln(ARL) / n)."""
    spread = np.where(past.n > 0, past.variance(), counts.variance())
    with np.errstate(divide="ignore"):
        limit = SLACK + np.sqrt(2 * spread * phi * math.log(FALSE_ALARM_TICKS) / counts.n)
    return np.where(counts.n > 0, np.minimum(limit, 1.0), np.nan)


def worsening(rubric: str) -> int:
    """The direction in which a series gets worse: -1 down, 1 up, 0 neither.

    A score is better high, a share of failures low; the rate of any other label is neither.

    >>> [worsening(name) for name in ("groundedness", "groundedness:failed", "refusal:refused")]
    [-1, 1, 0]
    """
    _, separator, label = rubric.partition(":")
    if not separator:
        return -1
    return 1 if label == "failed" else 0


def _sustained(
    compared: _Comparison, series: Sequence[Series], window: str, rules: DeltaSettings
) -> NDArray[np.bool_]:
    """Where every delta of the last window's ticks was worse by `sustained_points` or more.

    The first of these ticks lies one window back. The interval of the last one excludes 0.
    """
    has_lasted = np.zeros(compared.delta.shape, dtype=np.bool_)
    if window not in SUSTAINED:
        return has_lasted
    sign = np.array([worsening(each.rubric) for each in series])
    down = (compared.delta * sign >= rules.sustained_points) & (sign != 0)
    span = WINDOWS[window] + 1
    # Counts the ticks of each span as a difference of running sums.
    running = np.vstack([np.zeros((1, down.shape[1]), dtype=np.int64), np.cumsum(down, axis=0)])
    has_lasted[span - 1 :] = running[span:] - running[:-span] == span
    proven = np.where(sign < 0, compared.high < 0, compared.low > 0)
    return np.asarray(has_lasted & proven)
