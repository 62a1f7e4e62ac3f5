"""Keeps the last hours by the minute and the last days by the hour, as sums per series. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np

from alerts.deltas.windows import Floats, Ints
from ragvigil.model.delta import Series

MINUTE, HOUR = 60, 3600
MINUTES = 240
"""Minutes that are kept: more than may change singly, and more than a window or an onset reads."""
HOURS = 192
"""Hours that are kept: a week, and the day that holds its first window."""
LATE_HOURS = 2
"""Full hours before the present one whose minutes may change singly; older hours are replaced."""


class Sums(Protocol):
    """Sums per series and bin, a row each, as the store reads them.

    `index` is a position in `series`, whose rubric is the signal; `start` is the bin's, in seconds.
    """

    @property
    def series(self) -> tuple[Series, ...]: ...
    @property
    def index(self) -> Ints: ...
    @property
    def start(self) -> Ints: ...
    @property
    def n(self) -> Floats: ...
    @property
    def total(self) -> Floats: ...
    @property
    def squares(self) -> Floats: ...


class SignalMinutes:
    """Sums (number, total, squares) of every series, in two rings: of minutes and of hours.

    Minutes and hours that are put again replace the earlier ones. New series are appended; those
    without requests in all hours are dropped. `end` is the end of the newest minute, in seconds.
    """

    def __init__(self) -> None:
        self.series: list[Series] = []
        self._place: dict[Series, int] = {}
        self._minutes = np.zeros((3, MINUTES, 0))
        self._hours = np.zeros((3, HOURS, 0))
        self.end = 0
        self._began = 0

    @property
    def oldest_minute(self) -> int:
        """Start of the oldest minute that is kept, in seconds; hours go further back."""
        return max(self._began, self.end - MINUTES * MINUTE)

    @property
    def first_minute(self) -> int:
        """Start of the first minute, in seconds, that may be put singly; before it, hours only."""
        return (self.end - 1) // HOUR * HOUR - LATE_HOURS * HOUR

    @property
    def first_hour(self) -> int:
        """Start of the oldest hour that is kept, in seconds."""
        return (self.end - 1) // HOUR * HOUR - (HOURS - 1) * HOUR

    def advance(self, end: int) -> None:
        """Makes room for the minutes until `end`, seconds; forgets the oldest."""
        # Rounded up to a full minute.
        end = -(-end // MINUTE) * MINUTE
        if end <= self.end:
            return
        is_new = not self.end
        _clear(self._minutes, self.end // MINUTE, end // MINUTE)
        _clear(self._hours, (self.end - 1) // HOUR + 1, (end - 1) // HOUR + 1)
        self.end = end
        if is_new:
            self._began = self.first_minute
        if not self._minutes.shape[2]:
            return
        is_alive = self._hours[0].any(axis=0)
        if not is_alive.all():
            self._keep(np.flatnonzero(is_alive))

    def put_minutes(self, sums: Sequence[Sums], minutes: Collection[int]) -> list[int]:
        """Replaces these minutes (starts) by the sums, and returns those that differ from before.

        They lie between `first_minute` and `end`.
        """
        changed = []
        places = [self._places(table.series) for table in sums]
        # After `_places`, which may have appended series and widened the rings.
        fresh = np.zeros((3, MINUTES, len(self.series)))
        for table, place in zip(sums, places, strict=True):
            _add(fresh, table, place, table.start // MINUTE % MINUTES)
        for minute in minutes:
            slot, hour = minute // MINUTE % MINUTES, minute // HOUR % HOURS
            if np.array_equal(fresh[:, slot], self._minutes[:, slot]):
                continue
            changed.append(minute)
            # The hour moves by the difference, so it need not be read again.
            self._hours[:, hour] += fresh[:, slot] - self._minutes[:, slot]
            self._minutes[:, slot] = fresh[:, slot]
        return changed

    def put_hours(self, sums: Sequence[Sums], hours: Collection[int]) -> None:
        """Replaces these hours (starts), which lie before `first_minute`."""
        places = [self._places(table.series) for table in sums]
        slots = sorted({hour // HOUR % HOURS for hour in hours})
        # Emptied first: a series that has nothing left in these hours has no row.
        self._hours[:, slots] = 0
        for table, place in zip(sums, places, strict=True):
            _add(self._hours, table, place, table.start // HOUR % HOURS)

    def by_minute(self, end: int, minutes: int) -> Floats:
        """The minutes before `end`, oldest first, shape (3, minutes, series)."""
        slots = (end // MINUTE + np.arange(-minutes, 0)) % MINUTES
        return np.asarray(self._minutes[:, slots])

    def last(self, end: int, minutes: int) -> Floats:
        """Sums of the minutes before `end`, shape (3, series)."""
        return np.asarray(self.by_minute(end, minutes).sum(axis=1))

    def by_hour(self, end: int, hours: int) -> Floats:
        """The hours before `end`, a full hour, oldest first, shape (3, hours, series)."""
        slots = (end // HOUR + np.arange(-hours, 0)) % HOURS
        return np.asarray(self._hours[:, slots])

    def _places(self, series: Sequence[Series]) -> Ints:
        new = [each for each in series if each not in self._place]
        for each in new:
            self._place[each] = len(self.series)
            self.series.append(each)
        if new:
            self._minutes = _wider(self._minutes, len(self.series))
            self._hours = _wider(self._hours, len(self.series))
        return np.array([self._place[each] for each in series], dtype=np.int64)

    def _keep(self, places: Ints) -> None:
        """Forgets all other series."""
        self.series = [self.series[place] for place in places]
        self._place = {each: place for place, each in enumerate(self.series)}
        self._minutes, self._hours = self._minutes[:, :, places], self._hours[:, :, places]


def _clear(ring: Floats, first: int, end: int) -> None:
    """Empties the slots of the steps first..end (end excluded), at most the whole ring."""
    size = ring.shape[1]
    ring[:, np.arange(max(first, end - size), end) % size] = 0


def _add(ring: Floats, sums: Sums, place: Ints, slots: Ints) -> None:
    for measure, values in enumerate((sums.n, sums.total, sums.squares)):
        np.add.at(ring[measure], (slots, place[sums.index]), values)


def _wider(ring: Floats, series: int) -> Floats:
    more = series - ring.shape[2]
    return np.concatenate([ring, np.zeros((*ring.shape[:2], more))], axis=2)
