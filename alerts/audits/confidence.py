"""A confidence sequence for the mean of differences: an interval that holds at every look. Pure.

The one-sided normal mixture of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric,
nonasymptotic confidence sequences" (arXiv 1810.08240, proposition 6 and equation 3.14), with the
variance estimated on the way as in Waudby-Smith et al., "Time-uniform central limit theory"
(arXiv 2103.06476). It is as tight as it can be near 200 differences, and valid at any number.

The sequence is asymptotic, so few differences are guarded: nothing is confirmed before LEAST of
them, and PRIOR further ones of a usual spread are counted into the variance, so that a run of equal
scores does not prove anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

TUNED_FOR = 200.0
"""Differences at which the interval is tightest: where a drop of 10 points shows.

Tuned for 100, the early looks would take the error that the later ones need."""
LEAST = 30
"""Fewest differences that confirm or rule out a drop."""
PRIOR, PRIOR_DEVIATION = 5.0, 0.35
"""The spread of a difference of two scores with a deviation of 0.25 each."""
POWER = 0.8416
"""Standard normal quantile of 0.8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Sums of n differences, each within -1..1."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        """Their mean; 0 without any, where every interval is the whole range."""
        return self.total / self.n if self.n else 0.0

    @property
    def variance(self) -> float:
        """The variance of one difference, the PRIOR ones included."""
        own = max(0.0, self.squares - self.n * self.mean**2)
        return (own + PRIOR * PRIOR_DEVIATION**2) / (self.n + PRIOR)


def differences(values: Iterable[float]) -> Differences:
    """Sums these values.

    >>> differences([0.5, -0.5]).mean
    0.0
    """
    each = tuple(values)
    return Differences(n=len(each), total=sum(each), squares=sum(value * value for value in each))


def radius(n: float, variance: float, alpha: float) -> float:
    """Returns how far the mean of n differences lies under its expectation, at all n at once.

    It is exceeded at any n with a probability of at most `alpha`; the same on the other side.
    """
    if n <= 0:
        return 2.0  # differences lie within -1..1: any mean is possible
    surprise = 2 * math.log(1 / (2 * alpha))
    spread = TUNED_FOR / (surprise + math.log(1 + surprise))
    mixed = math.log(1 + math.sqrt((n + spread) / spread) / (2 * alpha))
    return math.sqrt(2 * variance * (n + spread) * mixed) / n


def bounds(sample: Differences, alpha: float) -> tuple[float, float]:
    """Bounds of the expected difference, each wrong with a probability of at most `alpha`."""
    wide = radius(sample.n, sample.variance, alpha)
    return max(-1.0, sample.mean - wide), min(1.0, sample.mean + wide)


def could_show(n: float, variance: float, alpha: float) -> float:
    """The smallest difference that n of them show with a probability of 0.8."""
    if n < LEAST:
        return 1.0
    return min(1.0, radius(n, variance, alpha) + POWER * math.sqrt(variance / n))
