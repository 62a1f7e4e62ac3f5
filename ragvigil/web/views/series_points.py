"""The points of a chart and where they usually lie, from sums of scores. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

HOUR, DAY = 3600, 86_400
BINS = (60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, DAY)
"""Lengths of bins in seconds; each divides the next and the day, so that hours of days compare."""
MOST_BINS = 120
LEAST_BINS = 24
ENOUGH_SCORES = 6
"""Bins grow until the mean of a usual bin is of so many scores: fewer show noise."""
PAST_DAYS = 7
LEAST_DAYS = 3
"""Days with scores that the usual range needs, as the baseline of the deltas."""
PRIOR_BINS = 12
"""Weight of the assumption that means vary as their numbers of scores explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Values of a bin: how many, their sum and that of their squares."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            n=self.n + other.n,
            total=self.total + other.total,
            squares=self.squares + other.squares,
        )

    @property
    def mean(self) -> float | None:
        """None of no values; a mean of scores lies within 0 and 1."""
        return min(1.0, max(0.0, self.total / self.n)) if self.n else None

    @property
    def variance(self) -> float:
        """With one more value at 0 and one at 1, so that a few equal values prove little."""
        n, total, squares = self.n + 2, self.total + 1, self.squares + 1
        return max(0.0, (squares - total**2 / n) / (n - 1))

    def interval(self) -> tuple[float, float] | None:
        """The mean's 95 % interval within 0 and 1; None of no values.

        >>> [round(end, 2) for end in Sums(n=9, total=4.0, squares=4.0).interval()]
        [0.06, 0.83]
        """
        mean = self.mean
        if mean is None:
            return None
        half = student(self.n + 1) * sqrt(self.variance / self.n)
        return max(0.0, mean - half), min(1.0, mean + half)


def student(freedom: float) -> float:
    """Quantile 0.975 of Student's t, within 1 % from 3 degrees of freedom (Cornish-Fisher).

    >>> [round(student(freedom), 2) for freedom in (3, 10, 1e9)]
    [3.16, 2.23, 1.96]
    """
    z, nu = 1.959964, max(freedom, 1.0)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / nu ** (power + 1) for power, term in enumerate(terms))


def bin_for(seconds: float) -> int:
    """The shortest bin of which a time has at most MOST_BINS.

    >>> [bin_for(hours * HOUR) for hours in (0.25, 6, 24, 7 * 24, 30 * 24)]
    [60, 300, 900, 7200, 28800]
    """
    return next((length for length in BINS if seconds / length <= MOST_BINS), BINS[-1])


def widened(bins: Mapping[int, Sums], seconds: float, shortest: int) -> int:
    """A bin, no shorter than `shortest`, that usually holds ENOUGH_SCORES; LEAST_BINS remain."""
    length = shortest
    while True:
        counts = [sums.n for sums in gathered(bins, length).values() if sums.n]
        longer = next((each for each in BINS if each > length), None)
        if not counts or fmean(counts) >= ENOUGH_SCORES or longer is None:
            return length
        if seconds / longer < LEAST_BINS:
            return length
        length = longer


def gathered(bins: Mapping[int, Sums], length: int) -> dict[int, Sums]:
    """The sums of bins of `length` seconds by their starts, from shorter ones."""
    longer: dict[int, Sums] = {}
    for start, sums in bins.items():
        begin = start - start % length
        longer[begin] = longer.get(begin, Sums()) + sums
    return longer


def usual_ranges(
    starts: Iterable[int], past: Mapping[int, Sums], length: int, unit: int
) -> dict[int, tuple[float, float]]:
    """Where the means of bins of `length` usually lie, by the bins' starts.

    `past` holds bins of `unit` seconds, an hour or more. From the same hours of the PAST_DAYS days
    before each bin: their mean, and the 95 % range of a bin with as many scores as those days
    usually had, wider where the days differ by more than chance. Bins without LEAST_DAYS days with
    scores have none.
    """
    wide = max(length, unit)
    begins = {start: start - start % wide for start in starts}
    days_of = {begin: _same_hours(begin, past, wide, unit) for begin in set(begins.values())}
    known = {
        begin: (sum(days, Sums()), days)
        for begin, days in days_of.items()
        if len(days) >= LEAST_DAYS
    }
    spread = _overdispersion(known.values())
    ranges = {
        begin: _range(whole, len(days), spread, min(1.0, length / unit))
        for begin, (whole, days) in known.items()
    }
    return {start: ranges[begin] for start, begin in begins.items() if begin in ranges}


def _range(whole: Sums, days: int, spread: float, part: float) -> tuple[float, float]:
    """Where the mean of a bin lies that is this part of `whole` on one of the days."""
    mean = whole.mean or 0.0
    scores = max(1.0, whole.n / days * part)
    error = sqrt(spread * whole.variance * (1 / scores + 1 / whole.n))
    half = student(whole.n + 1) * error
    return max(0.0, mean - half), min(1.0, mean + half)


def _same_hours(begin: int, past: Mapping[int, Sums], length: int, unit: int) -> list[Sums]:
    """The sums of the same hours of each of the days before, of the days that have scores."""
    cells = range(begin, begin + length, unit)
    days = (
        sum((past.get(cell - day * DAY, Sums()) for cell in cells), Sums())
        for day in range(1, PAST_DAYS + 1)
    )
    return [day for day in days if day.n]


def _overdispersion(bins: Iterable[tuple[Sums, Sequence[Sums]]]) -> float:
    """How much more the means of the days vary than their numbers of scores explain; 1 or more.

    `bins` holds the sums of all days together, and of each.
    """
    excess, freedom = float(PRIOR_BINS), PRIOR_BINS
    for whole, days in bins:
        between = sum(day.n * ((day.mean or 0.0) - (whole.mean or 0.0)) ** 2 for day in days)
        excess += between / whole.variance if whole.variance else 0.0
        freedom += len(days) - 1
    return max(1.0, excess / freedom)
