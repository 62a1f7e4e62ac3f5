"""Sums over windows of event time, in constant time per window.

Roll-ups (counts per series and minute) are folded into bins of one tick, 5 minutes, and turned into
running sums once; the counts of any window are then the difference of two rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ragvigil.model.delta import TICK_SECONDS as TICK_SECONDS
from ragvigil.model.delta import Series

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOUR = 3600 // TICK_SECONDS
"""In ticks, as DAY."""
DAY = 24 * HOUR
WINDOWS = {"15m": 3, "30m": 6, "90m": 18, "6h": 6 * HOUR, "24h": DAY}
"""Length of each window in ticks."""
MEASURES = ("n", "total", "squares", "failed", "absent")
TERMS = ("1", "x", "xx", "a", "ax", "ay", "ayy", "axy")
"""Products of a judged record: x its cheap score, a 1 where the rubric applies (else 0), y its
score."""
SUMS = (
    *("sampled", "paired", "n", "total"),
    *(f"w {term}" for term in TERMS),
    *(f"ww {term}" for term in TERMS),
    *("cheap", "v", "vx", "vxx"),
)
"""Sums in the order in which the store holds them (`judged_sums_recompute.sql`). `w` is 1 over the
probability of being judged, `v` that of having a cheap score; `sampled` counts judged records,
`paired` those with a cheap score, `n` those with a value, `total` sums the values as they are,
`cheap` counts all cheap scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollups:
    """Counts per bin and series from `start` (seconds since the epoch, a full hour).

    `counts` has the shape (measures, bins, series); the measures are the number of values,
    their sum, the sum of their squares, how many fail, and how many could not be seen. `samples`
    holds the SUMS of the series at the positions `sampled`, which are judged on a sample: shape
    (SUMS, bins, sampled). `questions` holds answers and their crowding: shape (2, bins, series).
    """

    series: tuple[Series, ...]
    start: int
    counts: Floats
    sampled: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    samples: Floats = field(default_factory=lambda: np.zeros((len(SUMS), 0, 0)))
    questions: Floats = field(default_factory=lambda: np.zeros((2, 0, 0)))

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


@dataclass(frozen=True, slots=True)
class Tally:
    """All that was summed over some windows.

    `counts` has the shape (measures, windows, series), `samples` (SUMS, windows, sampled) and
    `questions` (2, windows, series), as in `Rollups`.
    """

    counts: Floats
    samples: Floats
    questions: Floats

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.counts + other.counts,
            self.samples + other.samples,
            self.questions + other.questions,
        )

    def over(self, windows: int) -> Tally:
        """The sums of one window, for each of so many."""
        return Tally(
            *(
                np.broadcast_to(each, (len(each), windows, each.shape[2]))
                for each in (self.counts, self.samples, self.questions)
            )
        )

    def where(self, chosen: NDArray[np.bool_], other: Tally, sampled: Ints) -> Tally:
        """These sums where `chosen`, shape (windows, series), else the others'."""
        return Tally(
            np.where(chosen, self.counts, other.counts),
            np.where(chosen[:, sampled], self.samples, other.samples),
            np.where(chosen, self.questions, other.questions),
        )


class Sums:
    """Counts of any range of bins of some roll-ups."""

    def __init__(self, rollups: Rollups) -> None:
        self.rollups = rollups
        self._running = _running(rollups.counts)
        self._samples = _running(rollups.samples)
        known = rollups.questions
        if not known.size:  # no questions were counted: each answer has its own
            known = np.zeros((2, 0, len(rollups.series)))
        self._questions = _running(known)

    def between(self, first: Ints, last: Ints) -> Counts:
        """Counts of the bins first..last (last excluded), shape (windows, series).

        Bins outside the roll-ups are empty.
        """
        return Counts(*_between(self._running, first, last))

    def tally(self, first: Ints, last: Ints) -> Tally:
        """All sums of the bins first..last (last excluded)."""
        return Tally(
            _between(self._running, first, last),
            _between(self._samples, first, last),
            _between(self._questions, first, last),
        )

    def hourly(self) -> Counts:
        """Counts of every full clock hour, shape (hours, series)."""
        return Counts(*np.diff(self._running[:, ::HOUR], axis=1))


def _running(sums: Floats) -> Floats:
    measures, bins, series = sums.shape
    running = np.zeros((measures, bins + 1, series))
    np.cumsum(sums, axis=1, out=running[:, 1:])
    return running


def _between(running: Floats, first: Ints, last: Ints) -> Floats:
    bins = running.shape[1] - 1
    # Windows that reach before the first bin are cut there.
    sums = running[:, np.clip(last, 0, bins)]
    sums -= running[:, np.clip(first, 0, bins)]
    return np.asarray(sums)
