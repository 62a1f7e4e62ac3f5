"""How often records fail anyhow, and whether a group of failures stands out from that. Pure.

Without it most single failures would be absorbed into issues: enough of anything makes a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

PRIOR_FAILING = 2.0
PRIOR_REQUESTS = 400.0
"""What is believed of a route that nothing is known of: one in 200 records fails, give or take."""
CHANCE = 0.05
"""A background as high as this group would show itself so seldom."""
LEAST_MEMBERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Records of some routes in past days: how many failed in one family outside of any issue.

    The members of a candidate for an issue are not among them, else the first cause of a service
    would hide itself.
    """

    failing: int = 0
    requests: int = 0

    @property
    def rate(self) -> float:
        """The share of records that fail so; the prior's where little is known."""
        return (self.failing + PRIOR_FAILING) / (self.requests + PRIOR_REQUESTS)

    def __add__(self, other: Background) -> Background:
        """Of the routes of both."""
        return Background(
            failing=self.failing + other.failing, requests=self.requests + other.requests
        )


def is_above(count: int, requests: int, background: Background) -> bool:
    """Whether `count` failures among `requests` records are more than the background explains.

    The count that a background rate would give is negative binomial: Poisson, with the rate's own
    uncertainty (gamma) from the prior and what was seen.

    >>> is_above(3, 100, Background()), is_above(20, 1000, Background(failing=90, requests=9000))
    (True, True)
    >>> is_above(3, 200, Background()), is_above(10, 1000, Background(failing=90, requests=9000))
    (False, False)
    """
    if count < LEAST_MEMBERS:
        return False
    shape = background.failing + PRIOR_FAILING
    return _tail(count, shape, requests / (background.requests + PRIOR_REQUESTS)) < CHANCE


def _tail(count: int, shape: float, odds: float) -> float:
    """The chance of `count` or more under a negative binomial of mean shape * odds."""
    if odds <= 0:
        return 0.0
    at_zero = -shape * log1p(odds)
    step = log(odds) - log1p(odds)
    below = sum(
        exp(lgamma(k + shape) - lgamma(shape) - lgamma(k + 1) + at_zero + k * step)
        for k in range(count)
    )
    return max(0.0, 1.0 - below)
