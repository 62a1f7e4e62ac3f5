"""Sums over windows of event time, in constant time per window.

Roll-ups (counts per series and minute) are folded into bins of one tick, 5 minutes, and turned into
running sums once; the counts of any window are then the difference of two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragvigil.model.delta import Series

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TICK_SECONDS = 300
HOUR = 3600 // TICK_SECONDS
"""In ticks, as DAY."""
DAY = 24 * HOUR
WINDOWS = {"15m": 3, "30m": 6, "90m": 18, "6h": 6 * HOUR, "24h": DAY}
"""Length of each window in ticks."""
MEASURES = ("n", "total", "squares", "failed", "absent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollups:
    """Counts per bin and series from `start` (seconds since the epoch, a full hour).

    `counts` has the shape (measures, bins, series); the measures are the number of values,
    their sum, the sum of their squares, how many fail, and how many could not be seen.
    """

    series: tuple[Series, ...]
    start: int
    counts: Floats

    def bin_of(self, time: int) -> int:
        """Number of bins that end at or before `time`."""
        return (time - self.start) // TICK_SECONDS


def fold(
    series: Sequence[Series],
    start: int,
    end: int,
    *,
    index: Ints,
    minute: Ints,
    counts: Sequence[Floats],
) -> Rollups:
    """Folds rows into roll-ups: `index` is a position in `series`, `minute` its start in seconds.

    `start` is moved back to a full hour; rows outside start..end are left out. `counts` holds
    one array a measure, in the order of MEASURES.
    """
    start -= start % 3600
    bins = -(-(end - start) // TICK_SECONDS)
    place = (minute - start) // TICK_SECONDS
    inside = (place >= 0) & (place < bins)
    flat = place[inside] * len(series) + index[inside]
    size = bins * len(series)
    # One pass over all rows for each measure: a cell's flat index is its bin and series.
    folded = [np.bincount(flat, weights=values[inside], minlength=size) for values in counts]
    shape = (len(MEASURES), bins, len(series))
    stacked = np.stack(folded).reshape(shape).astype(np.float64, copy=False)
    return Rollups(series=tuple(series), start=start, counts=stacked)


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of some windows; all arrays have one shape."""

    n: Floats
    total: Floats
    squares: Floats
    failed: Floats
    absent: Floats

    def mean(self) -> Floats:
        """Mean value, NaN where there is none."""
        return np.clip(ratio(self.total, self.n), 0.0, 1.0)

    def coverage(self) -> Floats:
        """Scored / (scored + could not be seen), NaN where there is neither."""
        return ratio(self.n, self.n + self.absent)

    def variance(self) -> Floats:
        """Variance of the values with one more value at 0 and one at 1.

        The two extra values keep the interval of few or equal values open: three scores of 1.0
        prove little (Agresti and Coull's adjustment, carried to values within 0..1).
        """
        n, total, squares = self.n + 2, self.total + 1, self.squares + 1
        return np.asarray((squares - total**2 / n) / (n - 1))


def ratio(above: Floats, below: Floats) -> Floats:
    """Quotient, NaN where `below` is 0."""
    unknown = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=unknown, where=below > 0)
    return unknown


class Sums:
    """Counts of any range of bins of some roll-ups."""

    def __init__(self, rollups: Rollups) -> None:
        measures, bins, series = rollups.counts.shape
        self.rollups = rollups
        self._running = np.zeros((measures, bins + 1, series))
        np.cumsum(rollups.counts, axis=1, out=self._running[:, 1:])

    def between(self, first: Ints, last: Ints) -> Counts:
        """Counts of the bins first..last (last excluded), shape (windows, series).

        Bins outside the roll-ups are empty.
        """
        bins = self._running.shape[1] - 1
        # Windows that reach before the first bin are cut there.
        counts = self._running[:, np.clip(last, 0, bins)]
        counts -= self._running[:, np.clip(first, 0, bins)]
        return Counts(*counts)

    def hourly(self) -> Counts:
        """Counts of every full clock hour, shape (hours, series)."""
        return Counts(*np.diff(self._running[:, ::HOUR], axis=1))
