"""Estimates how often records fail anyhow, and tests whether a group exceeds that. Pure.

Without the test most single failures would end in issues: enough of anything makes a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

PRIOR_FAILING = 2.0
PRIOR_REQUESTS = 400.0
"""The belief about a route without data, a gamma prior: about 1 in 200 records fails."""
CHANCE = 0.05
"""A group stands out if the background alone gives its count with less than this probability."""
LEAST_MEMBERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Requests of some routes in past days, and how many failed in one family outside any issue.

    The members of a candidate issue are not counted, else the first cause of a service would hide
    itself.
    """

    failing: int = 0
    requests: int = 0

    @property
    def rate(self) -> float:
        """The share (0..1) of records that fail; near the prior where there is little data."""
        return (self.failing + PRIOR_FAILING) / (self.requests + PRIOR_REQUESTS)

    def __add__(self, other: Background) -> Background:
        """The background of both sets of routes together."""
        return Background(
            failing=self.failing + other.failing, requests=self.requests + other.requests
        )


def is_above(count: int, requests: int, background: Background, *, chance: float = CHANCE) -> bool:
    """Whether `count` failures among `requests` records are more than the background explains.

    Under the background the count is negative binomial: Poisson counts, whose rate is itself
    uncertain (gamma, from the prior and the observed failures).

    >>> is_above(3, 100, Background()), is_above(20, 1000, Background(failing=90, requests=9000))
    (True, True)
    >>> is_above(3, 200, Background()), is_above(10, 1000, Background(failing=90, requests=9000))
    (False, False)
    """
    if count < LEAST_MEMBERS:
        return False
    shape = background.failing + PRIOR_FAILING
    return tail(count, shape, requests / (background.requests + PRIOR_REQUESTS)) < chance


def tail(count: int, shape: float, odds: float) -> float:
    """The probability of `count` or more under a negative binomial of mean shape * odds."""
    if odds <= 0:
        return 0.0
    at_zero = -shape * log1p(odds)
    step = log(odds) - log1p(odds)
    # Logarithms of gamma functions: the factors alone overflow for large counts.
    below = sum(
        exp(lgamma(k + shape) - lgamma(shape) - lgamma(k + 1) + at_zero + k * step)
        for k in range(count)
    )
    return max(0.0, 1.0 - below)
