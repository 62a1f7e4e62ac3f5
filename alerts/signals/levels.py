"""Compares the levels of numbers with their own past, whatever the mix of routes. Pure.

A change is the mean over routes of each route's change, weighted by its present requests
(post-stratified), so that more questions on one route are no change. Its standard error includes
the overdispersion of hourly means, as in `overdispersion`. The past are the same hours of the last
days, else all of it. Every single one of these days, or hours, must lie on the same side of the
present: neither a slow wave nor one odd day makes a move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log1p, sqrt

import numpy as np

from alerts.deltas.overdispersion import PRIOR_HOURS
from alerts.deltas.windows import Floats, Ints, ratio
from alerts.signals.catalogue import Number
from alerts.signals.minutes import HOUR, HOURS, MINUTE, SignalMinutes

DAYS, DAY_HOURS = 7, 24
RECENT_HOURS = 2
"""The newest hours, left out of what is usual: a move may lie in them."""
LEAST_CELL = 30
"""Fewest requests of a day or an hour that must agree with the change."""
SMALL_Z = 3.0
"""Standard errors under which no change is a move."""
FEW = 20
"""Below this many requests their own spread is ignored; only that of the past is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The past of some series; arrays of shape (series,), cells of shape (cells, series).

    `n` is 0 where the past is too short. `variance` is that of single requests within an hour,
    `phi` the overdispersion of hourly means. Cells are single days or hours. `is_of_label` says
    that values are 0 and 1.
    """

    n: Floats
    mean: Floats
    variance: Floats
    phi: Floats
    cells_n: Floats
    cells_mean: Floats
    is_same_hours: bool
    is_of_label: bool = False

    def of_label(self, allowed: float) -> Past:
        """The past of a label that so many healthy answers may have, as if as many had had it.

        Its bar is learned anew each day, and up to that share the label comes and goes with it.
        """
        mean = np.maximum(self.mean, allowed)
        return replace(
            self,
            mean=mean,
            variance=np.maximum(self.variance, mean * (1 - mean)),
            cells_mean=np.maximum(self.cells_mean, allowed),
            is_of_label=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """By how much a level changed: `level` before, `error` of `change`, `sd` of single requests.

    `usual_error` is that of a change if the window scattered no more than the past.

    `agreement` is the smallest distance, in standard errors and on the side of the change, from a
    cell of the past; it is not sought for a change under SMALL_Z. `n` counts the present requests.
    """

    n: float
    level: float
    change: float
    error: float
    usual_error: float
    sd: float
    agreement: float
    is_same_hours: bool

    @property
    def z(self) -> float:
        """The change in standard errors."""
        return abs(self.change) / self.error

    @property
    def bounded_z(self) -> float:
        """The same of values from 0 to 1, or of counts that fell.

        Near the end of their range they have a long tail on the other side: four answers in a
        hundred that cite nothing are far off in standard errors where the usual is one, and come by
        chance.
        """
        return min(self.z, self.usual_z)

    @property
    def usual_z(self) -> float:
        """The same by how seldom it is, whatever the window scatters."""
        most = self.level if self.change < 0 else 1 - self.level
        return bounded_distance(self.n, abs(self.change), self.usual_error**2 * self.n, most)

    def certainty(self, signal: Number) -> float:
        """How sure the change is, in standard errors.

        Zeros and ones scatter by their share, so a window of a label proves no less where it
        scatters more. A label that fell proves nothing: its bar may have sunk.
        """
        if signal.allowed:
            return self.usual_z if self.change > 0 else 0.0
        return self.bounded_z if signal.is_bounded(is_fall=self.change < 0) else self.z


class Levels:
    """What is usual for all series of a table at one time (`end`, seconds)."""

    def __init__(self, table: SignalMinutes, end: int, *, min_days: int, least_past: int) -> None:
        self._table, self._end = table, end
        self._min_days, self._least_past = min_days, least_past
        self._next_hour = -(-end // HOUR) * HOUR
        self._hours = table.by_hour(self._next_hour, HOURS)
        self._known = self._hours[:, : HOURS - RECENT_HOURS]
        self._spreads: dict[tuple[bool, int], tuple[Floats, Floats]] = {}

    def past(
        self, places: Ints, minutes: int, *, until: int | None = None, allowed: float = 0.0
    ) -> Past:
        """The past of these series for a window of `minutes`.

        A flat past, and what is usual of the spread, end at `until` (seconds) where that is given:
        what hours of a move vary by is not usual. `allowed` is that of the number.
        """
        days = self._days(places, minutes)
        is_same = int((days[0].sum(axis=1) > 0).sum()) >= self._min_days
        if is_same:
            has_days = (days[0] > 0).sum(axis=0) >= self._min_days
            n, total = np.where(has_days, days[:2].sum(axis=1), 0.0)
            cells = days
        else:
            n, total = self._flat(places, minutes, until)
            cells = self._known[:, -DAY_HOURS:, places]
        key = is_same, min(self._known.shape[1], self._hours_until(until))
        if key not in self._spreads:
            self._spreads[key] = self._spread(*key)
        variance, phi = self._spreads[key]
        past = Past(
            n=n,
            mean=np.nan_to_num(ratio(total, n)),
            variance=variance[places],
            phi=phi[places],
            cells_n=cells[0],
            cells_mean=np.nan_to_num(ratio(cells[1], cells[0])),
            is_same_hours=is_same,
        )
        return past.of_label(allowed) if allowed else past

    def _days(self, places: Ints, minutes: int) -> Floats:
        """Sums of the window's hours on each earlier day, weighted by their part of the window.

        The shape is (3, days, series).
        """
        start = self._end - minutes * MINUTE
        hours = np.arange(start // HOUR * HOUR, self._next_hour, HOUR)
        inside = np.minimum(hours + HOUR, self._end) - np.maximum(hours, start)
        days = np.zeros((3, DAYS, len(places)))
        for hour, weight in zip(hours, inside / inside.max(), strict=True):
            back = (self._next_hour - hour) // HOUR + DAY_HOURS * np.arange(1, DAYS + 1)
            # A window that holds part of an hour takes that part of its sums.
            days += weight * self._hours[:, HOURS - back][:, :, places]
        return days

    def _flat(self, places: Ints, minutes: int, until: int | None) -> Floats:
        """Sums of all hours before the window, 0 where that is too little; shape (2, series)."""
        if until is not None:
            full = self._hours[:2, : self._hours_until(until)]
            past = full[:, :, places].sum(axis=1)
        else:
            newest = self._table.last(self._end, minutes)[:2, places]
            past = self._hours[:2, :, places].sum(axis=1) - newest
        # The flat past must have begun an hour before the window.
        first = np.argmax(self._hours[0][:, places] > 0, axis=0)
        begun = self._next_hour - (HOURS - first) * HOUR
        is_long = self._end - minutes * MINUTE - begun >= HOUR
        return np.where(is_long & (past[0] >= self._least_past), past, 0.0)

    def _hours_until(self, until: int | None) -> int:
        """How many of the hours end before a time (seconds); all without one."""
        if until is None:
            return HOURS
        return max(0, HOURS - (self._next_hour - until // HOUR * HOUR) // HOUR)

    def _spread(self, is_same: bool, hours: int) -> tuple[Floats, Floats]:
        """Variance within the first `hours`, and φ of their means around their profile."""
        n, total, squares = self._known[:, :hours]
        spread = np.nan_to_num(ratio(total**2, n))
        is_seen = n > 0
        freedom = np.maximum((n - is_seen).sum(axis=0), 1)
        variance = np.maximum((squares - spread).sum(axis=0), 0) / freedom
        level = np.nan_to_num(ratio(total.sum(axis=0), n.sum(axis=0)))
        # At least 1 % of the level, so that a constant number has an error to divide by.
        variance = np.maximum(variance, (0.01 * level) ** 2 + 1e-12)
        groups = (np.arange(len(n)) % DAY_HOURS) if is_same else np.zeros(len(n), dtype=np.int64)
        by_n, by_total, has_any = (
            _by(groups, values) for values in (n, total, is_seen.astype(float))
        )
        profile = np.nan_to_num(ratio(by_total**2, by_n)).sum(axis=0)
        between = spread.sum(axis=0) - profile
        means = is_seen.sum(axis=0) - (has_any > 0).sum(axis=0)
        phi = (between / variance + PRIOR_HOURS) / (means + PRIOR_HOURS)
        return variance, np.maximum(phi, 1.0)


def _by(groups: Ints, values: Floats) -> Floats:
    """Sums of the rows of each group."""
    sums = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return sums


def shift_of(now: Floats, past: Past, chosen: Ints) -> Shift | None:
    """The change of the chosen series together, None if none of them has a past.

    `now` holds the sums of the window, shape (3, series), in the order of `past`.
    """
    chosen = chosen[(now[0, chosen] > 0) & (past.n[chosen] > 0)]
    if not len(chosen):
        return None
    n, total, squares = now[:, chosen]
    weight = n / n.sum()
    mean = total / n
    # The larger spread of past and window: a window that scatters more than usual proves less. What
    # hours vary by beyond their requests is that of the past: a move in a part of the answers
    # scatters by itself, and that must not count twice.
    own = np.maximum(squares - total * mean, 0) / np.maximum(n - 1, 1)
    inside = np.maximum(past.variance[chosen], np.where(n >= FEW, own, 0))
    usual = past.variance[chosen] * past.phi[chosen]
    variance = inside + usual - past.variance[chosen]
    change = float(weight @ (mean - past.mean[chosen]))
    per_request = weight**2 * (1 / n + 1 / past.n[chosen])
    error = float(np.sqrt(per_request @ variance))
    side = 1.0 if change >= 0 else -1.0
    proving = usual if past.is_of_label else variance
    is_small = abs(change) < SMALL_Z * float(np.sqrt(per_request @ proving))
    return Shift(
        n=float(n.sum()),
        level=float(weight @ past.mean[chosen]),
        change=change,
        error=error,
        usual_error=float(np.sqrt(per_request @ usual)),
        sd=float(np.sqrt(weight @ past.variance[chosen])),
        agreement=-float("inf") if is_small else _agreement(side, mean, n, proving, past, chosen),
        is_same_hours=past.is_same_hours,
    )


def _agreement(
    side: float, mean: Floats, n: Floats, variance: Floats, past: Past, chosen: Ints
) -> float:
    """The smallest change against a single cell of the past, in standard errors."""
    cells_n, cells_mean = past.cells_n[:, chosen], past.cells_mean[:, chosen]
    is_seen = cells_n > 0
    # Days or hours with few requests prove nothing either way and are skipped.
    has_enough = cells_n.sum(axis=1) >= LEAST_CELL
    if not has_enough.any():
        return float("inf")
    weight = n * is_seen[has_enough]
    weight = weight / weight.sum(axis=1, keepdims=True)
    change = (weight * (mean - cells_mean[has_enough])).sum(axis=1)
    with np.errstate(divide="ignore"):
        per_request = np.where(is_seen[has_enough], 1 / n + 1 / cells_n[has_enough], 0)
    error = np.sqrt((weight**2 * variance * per_request).sum(axis=1))
    return float((side * change / error).min())


def bounded_distance(n: float, change: float, variance: float, most: float) -> float:
    """How far a mean of `n` values is off, as the distance of a normal number that is as seldom.

    Bennett's inequality (1962) bounds how seldom, by the variance of a value and by how far one can
    lie from the mean at `most`.

    >>> round(bounded_distance(60, 0.25, 0.0475, 0.95), 1)
    6.0
    """
    most, variance = max(most, 1e-9), max(variance, 1e-12)
    ratio = most * change / variance
    nats = n * variance / most**2 * ((1 + ratio) * log1p(ratio) - ratio)
    return sqrt(2 * nats)


def latest_peak(since: Floats) -> int:
    """Steps from the end to the largest value; of equal values the last.

    Minutes without requests give equal values: a change begins with a request, not before it.

    >>> latest_peak(np.array([3.0, 7.0, 7.0, 2.0]))
    2
    """
    return 1 + int(np.argmax(since[::-1] >= since.max() - 1e-9))
