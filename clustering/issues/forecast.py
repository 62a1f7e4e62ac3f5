"""Forecasts an issue's next hour from its own past, and tests an hour against it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

from clustering.issues.background_rate import tail

PAST_HOURS = 168
LEAST_HOURS = 24
"""A forecast needs a day, else a quiet night would be the whole past."""
LEAST_MEMBERS = 5
NEARLY_POISSON = 1.001
FACTOR = 2.0
CHANCE = 0.001
"""Of one hour, over all issues together: about one false escalation in six weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One full hour: new members of an issue, and the records of its service."""

    members: int
    requests: int


def is_above_forecast(past: Sequence[Hour], hour: Hour, issues: int = 1) -> bool | None:
    """Whether an hour has more members than forecast; None while the past is too short.

    The forecast is the past rate times the hour's requests, so a busy hour is no escalation. Above
    means at least 5 members, twice the forecast, and a count that the forecast gives with less than
    CHANCE / `issues`: Poisson, or negative binomial where the past hours vary more.

    >>> quiet = [Hour(members=2, requests=1000)] * 48
    >>> [is_above_forecast(quiet, Hour(members=n, requests=1000)) for n in (4, 9)]
    [False, True]
    >>> is_above_forecast(quiet, Hour(members=9, requests=5000))
    False
    >>> is_above_forecast(quiet, Hour(members=9, requests=1000), issues=100)
    False
    """
    hours = [past_hour for past_hour in past[-PAST_HOURS:] if past_hour.requests > 0]
    if len(hours) < LEAST_HOURS:
        return None
    rate = sum(past_hour.members for past_hour in hours) / sum(
        past_hour.requests for past_hour in hours
    )
    forecast = rate * hour.requests
    if hour.members < LEAST_MEMBERS or hour.members <= FACTOR * forecast:
        return False
    return _tail(hour.members, forecast, _spread(hours, rate)) < CHANCE / max(1, issues)


def _tail(count: int, mean: float, spread: float) -> float:
    """The probability of `count` or more, of a mean and a variance of `spread` times the mean."""
    if mean <= 0:
        return 0.0
    if spread <= NEARLY_POISSON:
        below = sum(exp(k * log(mean) - mean - lgamma(k + 1)) for k in range(count))
        return max(0.0, 1.0 - below)
    return tail(count, mean / (spread - 1), spread - 1)


def _spread(past: Sequence[Hour], rate: float) -> float:
    """Variance of the hours' counts over their forecasts; at least 1, which is Poisson's."""
    if rate <= 0:
        return 1.0
    squares = [
        (past_hour.members - rate * past_hour.requests) ** 2 / (rate * past_hour.requests)
        for past_hour in past
    ]
    return max(1.0, sum(squares) / (len(squares) - 1))
