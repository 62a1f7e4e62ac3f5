"""Requests of a window, and how many are usual in the same minutes of other days. Pure.

Usual is the median of the same minutes on the last days, or what came a week ago where that was
clearly less; times how the two hours before the window compare with the same hours, where they were
fewer: a quiet day, a weekend or a holiday is no loss. Both counts scatter more than independent
requests; by how much is read off the past week.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from alerts.deltas.windows import Floats
from alerts.signals.minutes import HOUR, HOURS, MINUTE, SignalMinutes

BEFORE = 120
"""Minutes before a window that say whether this is a quiet day."""
DAYS, DAY_HOURS, WEEK_HOURS = 7, 24, 168
UNUSUAL = log(1e6)
"""Evidence of a loss: one in years of checks of some dozens of routes."""
LEAST_USUAL = 8.0
"""Fewest usual requests of a window: less prove nothing."""
MOST_SCATTER = 12.0
SPAN = 120
"""Minutes before now in which the onset is sought, and the return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Requests of some routes in one window: how many came, and how many are usual.

    `quiet`, at most 1, is how this day compares with others; `usual` includes it. `scatter` is how
    much more the counts of hours vary than independent requests.
    """

    minutes: int
    came: float
    usual: float
    quiet: float
    scatter: float

    @property
    def share(self) -> float:
        """What came of what is usual."""
        return self.came / self.usual if self.usual else 1.0

    def is_lost(self, share: float) -> bool:
        """Whether at least this share is lost, and not by chance (Poisson, Chernoff's bound)."""
        if self.usual < LEAST_USUAL or self.share > 1 - share:
            return False
        tail = self.usual - self.came
        if self.came:
            tail += self.came * log(self.came / self.usual)
        return tail / self.scatter >= UNUSUAL


class Counts:
    """Requests of one window, and of the same minutes on the days before, for all series."""

    def __init__(self, table: SignalMinutes, end: int, minutes: int, min_days: int) -> None:
        self.end, self._minutes, self._min_days = end, minutes, min_days
        next_hour = -(-end // HOUR) * HOUR
        self._next_hour, self._hours = next_hour, table.by_hour(next_hour, HOURS)[0]
        self._came = table.last(end, minutes)[0]
        self._before = table.last(end - minutes * MINUTE, BEFORE)[0]

    def window(
        self, columns: Sequence[int], accepted: float | None, *, quiet: float | None = None
    ) -> Window | None:
        """The window of some series together, None without days to compare with.

        `accepted` is a number of requests an hour that is expected.
        """
        places = list(columns)
        start = self.end - self._minutes * MINUTE
        usual = self._usual(places, start, self.end)
        if usual is None:
            return None
        if quiet is None:
            earlier = start - BEFORE * MINUTE
            before = self._usual(places, earlier, start)
            quiet = min(1.0, float(self._before[places].sum()) / before) if before else 1.0
        expected = usual * quiet
        if accepted is not None:
            expected = min(expected, accepted * self._minutes * MINUTE / HOUR)
        came = float(self._came[places].sum())
        return Window(
            minutes=self._minutes,
            came=came,
            usual=expected,
            quiet=quiet,
            # Needed only where something is missing.
            scatter=self._scatter(places) if came < expected else 1.0,
        )

    def more(self, columns: Sequence[int]) -> float:
        """Requests of some series together beyond what is usual: all, while that is not known."""
        window = self.window(columns, None)
        return float(self._came[list(columns)].sum()) - (window.usual if window else 0.0)

    def rise(self, columns: Sequence[int]) -> float:
        """Evidence in nats that some series together rose in the window; 0 if they did not.

        They are compared with the two hours before it, also on a day that is busier than others.
        """
        places = list(columns)
        start = self.end - self._minutes * MINUTE
        usual = self._usual(places, start, self.end)
        usual_before = self._usual(places, start - BEFORE * MINUTE, start)
        if not usual or not usual_before:
            return 0.0
        ratio, before = usual / usual_before, float(self._before[places].sum())
        gain = float(self._came[places].sum()) - ratio * before
        # One more before: that none came then foretells little.
        variance = ratio * (1 + ratio) * (before + 1) * self._scatter(places)
        return gain**2 / (2 * variance) if gain > 0 else 0.0

    def of_new(self, columns: Sequence[int], since: int) -> float:
        """Requests in the window of those series that had none before the hour of `since`."""
        first = HOURS - (self._next_hour - since // HOUR * HOUR) // HOUR
        new = [column for column in columns if not self._hours[: max(first, 0), column].any()]
        return float(self._came[new].sum())

    def _usual(self, places: Sequence[int], start: int, end: int) -> float | None:
        """Usual requests from `start` until `end`; None with too few days since the first one."""
        hours = self._hours[:, places].sum(axis=1)
        begun = int(np.argmax(hours > 0)) if hours.any() else HOURS
        days = np.zeros(DAYS)
        is_known = np.ones(DAYS, dtype=bool)
        for hour in range(start // HOUR * HOUR, end, HOUR):
            part = (min(hour + HOUR, end) - max(hour, start)) / HOUR
            at = HOURS - (self._next_hour - hour) // HOUR - DAY_HOURS * np.arange(1, DAYS + 1)
            days += part * hours[at]
            # The hour in which it began is cut.
            is_known &= at > begun
        if int(is_known.sum()) < self._min_days:
            return None
        return float(_usual_of(days, is_known))

    def usual_hour(self, columns: Sequence[int], end: int) -> float | None:
        """Usual requests of the hour until a time of the last day; None where nobody knows."""
        start = end - HOUR
        is_kept = self._next_hour - start // HOUR * HOUR <= (HOURS - WEEK_HOURS) * HOUR
        return self._usual(list(columns), start, end) if is_kept else None

    def usual_minutes(self, columns: Sequence[int]) -> Floats:
        """Usual requests of each of the last SPAN minutes."""
        hours = self._hours[:, list(columns)].sum(axis=1)
        at = HOURS - 1 - np.arange(SPAN // 60 + 1)[::-1]
        days = hours[at[None, :] - DAY_HOURS * np.arange(1, DAYS + 1)[:, None]]
        is_known = days.sum(axis=1) > 0
        by_hour = _usual_of(days, is_known) if is_known.any() else days[0]
        cut = (self._next_hour - self.end) // MINUTE
        by_minute = np.repeat(by_hour / 60, 60)
        return np.asarray(by_minute[: len(by_minute) - cut][-SPAN:])

    def _scatter(self, places: Sequence[int]) -> float:
        """Pearson's statistic of the past week's hours, each foretold as a window is."""
        hours = self._hours[:-2, places].sum(axis=1)[-WEEK_HOURS:]
        by_day = hours.reshape(DAYS, DAY_HOURS)
        is_known = by_day.sum(axis=1) > 0
        profile = np.tile(np.median(by_day[is_known], axis=0), DAYS) if is_known.any() else hours
        known = np.repeat(is_known, DAY_HOURS)[2:]
        before, usual_before = (row[1:-1] + row[:-2] for row in (hours, profile))
        with np.errstate(divide="ignore", invalid="ignore"):
            quiet = np.minimum(1.0, before / usual_before)
            foretold = profile[2:] * quiet
            variance = foretold + (profile[2:] / usual_before) ** 2 * before
            off = (np.minimum(hours[2:] - foretold, 0.0)) ** 2 / variance
        off = np.sort(off[known & np.isfinite(off) & (foretold >= 1)])
        if not len(off):
            return 1.0
        # Half of the hours lie over what was foretold, and count nothing; the worst are incidents.
        return float(np.clip(2 * off[: int(0.95 * len(off)) + 1].mean(), 1.0, MOST_SCATTER))


def _usual_of(days: Floats, is_known: NDArray[np.bool_]) -> Floats:
    """Usual requests by those of the last DAYS days, the last of which is a week ago."""
    median, week_ago = np.median(days[is_known], axis=0), days[-1]
    # As it is, without the most that chance allows: of few requests that is half as many again.
    is_quieter = is_known[-1] & (week_ago + 2 * np.sqrt(week_ago) < median)
    return np.where(is_quieter, week_ago, median)
