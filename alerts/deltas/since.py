"""Finds the hour in which a movement began. Pure."""

from __future__ import annotations

import numpy as np

from alerts.deltas.windows import HOUR, Floats, Ints, Sums

NOISE = 2.0
"""Standard errors within which an hourly mean counts as noise."""
PART = 0.25
"""Share of the delta that an hour's mean must show: the change lasted a quarter of that hour."""


def onset_hours(
    sums: Sums,
    ends: Ints,
    moved: Ints,
    *,
    baseline: Floats,
    delta: Floats,
    variance: Floats,
    points: float,
) -> Ints:
    """Returns the start of the hour in which each moved cell began, seconds; 0 where unknown.

    It is the earliest clock hour from which every hourly mean lies on the moved side of the
    baseline. Half of all ordinary hours lie there too, so the leading hours of that run are left
    out while they are within `points`, within a quarter of `delta` or within the noise of one hour
    (`variance` is that of one score, overdispersion included). Hours without scores are skipped.
    All arrays but `ends` have the shape (ticks, series).
    """
    since = np.zeros(moved.shape, dtype=np.int64)
    tick, series = np.nonzero(moved)
    if len(tick):
        clear = np.maximum(points, PART * np.abs(delta))
        hour = _onset(
            sums,
            ends[tick],
            series,
            side=moved[tick, series],
            baseline=baseline[tick, series],
            variance=variance[tick, series],
            clear=clear[tick, series],
        )
        since[tick, series] = np.where(hour >= 0, sums.rollups.start + hour * 3600, 0)
    return since


def _onset(
    sums: Sums,
    ends: Ints,
    series: Ints,
    *,
    side: Ints,
    baseline: Floats,
    variance: Floats,
    clear: Floats,
) -> Ints:
    """Hour index of each cell's onset, -1 where not even its last hour lies on that side."""
    hours = sums.hourly()
    earliest = _running_hour(sums, ends, series, side, baseline)
    onset = np.full(len(ends), -1)
    # Walks back hour by hour, all cells at once; a cell stops at its first hour on the other side.
    walking = np.ones(len(ends), dtype=np.bool_)
    for back in range(1, len(hours.n) + 1):
        hour = np.clip(ends // HOUR - back, -1, len(hours.n) - 1)
        walking &= hour >= 0
        n = hours.n[hour, series]
        beyond = side * (hours.total[hour, series] / np.maximum(n, 1) - baseline)
        walking &= (n == 0) | (beyond > 0)
        if not walking.any():
            break
        on_side = walking & (n > 0)
        noise = NOISE * np.sqrt(variance / np.maximum(n, 1))
        earliest = np.where(on_side, hour, earliest)
        onset = np.where(on_side & (beyond > np.maximum(clear, noise)), hour, onset)
    return np.where(onset >= 0, onset, earliest)


def _running_hour(sums: Sums, ends: Ints, series: Ints, side: Ints, baseline: Floats) -> Ints:
    """The hour that has not ended yet if its scores lie on that side, else -1."""
    hour = ends // HOUR
    counts = sums.between(hour * HOUR, ends)
    each = np.arange(len(ends))
    n, total = counts.n[each, series], counts.total[each, series]
    is_there = (n > 0) & (side * (total / np.maximum(n, 1) - baseline) > 0)
    return np.where(is_there, hour, -1)
