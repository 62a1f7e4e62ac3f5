"""Overdispersion of hourly means: how much more they vary than their sample sizes explain.

φ is the F ratio of an analysis of variance: the spread of hourly means around the profile of
their hour of the day, over the spread of scores within an hour. 1 where scores are independent.
"""

from __future__ import annotations

import numpy as np

from alerts.deltas.windows import Floats, Sums, ratio

WEEK_HOURS = 168
DAYS = 7
PRIOR_HOURS = 12
"""Weight of the assumption φ = 1, in hours; few hours prove nothing."""


def overdispersion(sums: Sums) -> Floats:
    """φ >= 1 at every full hour, shape (hours + 1, series).

    It is computed from the week that ended a day before: a drop of the last 24 hours must not
    widen the interval that is to show it.
    """
    hours = sums.hourly()
    spread = ratio(hours.total**2, hours.n)
    np.nan_to_num(spread, copy=False)
    within = _rolling(hours.squares - spread, WEEK_HOURS)
    is_seen = (hours.n > 0).astype(np.float64)
    within_freedom = _rolling(hours.n - is_seen, WEEK_HOURS)
    # One value at 0 and one at 1 more, as in Counts.variance: equal scores have no spread.
    variance = (within + 0.5) / (within_freedom + 2)

    by_hour_n, by_hour_total = (_same_hour(hourly) for hourly in (hours.n, hours.total))
    profile = ratio(by_hour_total**2, by_hour_n)
    np.nan_to_num(profile, copy=False)
    between = _rolling(spread, WEEK_HOURS) - _rolling(profile, 24)
    has_profile = (by_hour_n > 0).astype(np.float64)
    # Each hour of the day that has scores costs one degree of freedom: its mean is estimated.
    freedom = _rolling(is_seen, WEEK_HOURS) - _rolling(has_profile, 24)
    phi = (between / variance + PRIOR_HOURS) / (freedom + PRIOR_HOURS)
    return _a_day_later(np.maximum(phi, 1.0))


def _rolling(hourly: Floats, hours: int) -> Floats:
    """Sums of the last `hours` before every full hour, shape (hours + 1, series)."""
    running = np.vstack([np.zeros((1, hourly.shape[1])), np.cumsum(hourly, axis=0)])
    before = np.maximum(np.arange(len(running)) - hours, 0)
    return np.asarray(running - running[before])


def _same_hour(hourly: Floats) -> Floats:
    """Sums of each hour and the same hours of the six days before it."""
    total = hourly.copy()
    for hours in range(24, 24 * DAYS, 24):
        total[hours:] += hourly[: max(0, len(hourly) - hours)]
    return total


def _a_day_later(at_hour: Floats) -> Floats:
    """Shifts each hour's φ by a day; the first day has φ = 1."""
    later = np.ones_like(at_hour)
    later[24:] = at_hour[:-24]
    return later
