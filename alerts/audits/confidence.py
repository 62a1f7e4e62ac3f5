"""A confidence sequence for the mean of differences: an interval that holds at every look. Pure.

The one-sided normal mixture of Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric,
nonasymptotic confidence sequences" (arXiv 1810.08240, proposition 6 and equation 3.14), with the
variance estimated on the way as in Waudby-Smith et al., "Time-uniform central limit theory"
(arXiv 2103.06476). It is as tight as it can be near 200 differences, and valid at any number.

What is asymptotic in it is guarded for few differences: nothing is confirmed before LEAST of
them, and as many as PRIOR further ones of a usual spread are counted into the variance, so that a
run of equal scores does not prove anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

TUNED_FOR = 200.0
"""Where 10 points show; tuned for 100, the first looks cost what the later ones need."""
LEAST = 30
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
        """Their mean; 0 of none, where every interval is the whole range."""
        return self.total / self.n if self.n else 0.0

    @property
    def variance(self) -> float:
        """The variance of one difference, the prior ones counted."""
        own = max(0.0, self.squares - self.n * self.mean**2)
        return (own + PRIOR * PRIOR_DEVIATION**2) / (self.n + PRIOR)


def differences(values: Iterable[float]) -> Differences:
    """The sums of these values.

    >>> differences([0.5, -0.5]).mean
    0.0
    """
    found = tuple(values)
    return Differences(n=len(found), total=sum(found), squares=sum(one * one for one in found))


def radius(n: float, variance: float, alpha: float) -> float:
    """How far the mean of n differences lies at most under its expectation, at all n at once.

    Exceeded at some n with a probability of at most `alpha`; the same on the other side.
    """
    if n <= 0:
        return 2.0
    surprise = 2 * math.log(1 / (2 * alpha))
    spread = TUNED_FOR / (surprise + math.log(1 + surprise))
    mixed = math.log(1 + math.sqrt((n + spread) / spread) / (2 * alpha))
    return math.sqrt(2 * variance * (n + spread) * mixed) / n


def bounds(seen: Differences, alpha: float) -> tuple[float, float]:
    """Lower and upper bound of the expected difference, each exceeded with at most `alpha`."""
    wide = radius(seen.n, seen.variance, alpha)
    return max(-1.0, seen.mean - wide), min(1.0, seen.mean + wide)


def could_show(n: float, variance: float, alpha: float) -> float:
    """The smallest difference that n of them show with a probability of 0.8."""
    if n < LEAST:
        return 1.0
    return min(1.0, radius(n, variance, alpha) + POWER * math.sqrt(variance / n))
