"""Forecasts an issue's next hour from its own past, and tests an hour against it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

PAST_HOURS = 168
LEAST_HOURS = 24
"""A forecast needs a day, else a quiet night would be the whole past."""
LEAST_MEMBERS = 5
FACTOR = 2.0
DEVIATIONS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One full hour: new members of an issue, and the records of its service."""

    members: int
    requests: int


def is_above_forecast(past: Sequence[Hour], hour: Hour) -> bool | None:
    """Whether an hour has more members than forecast; None while the past is too short.

    The forecast is the past rate times the hour's requests, so a busy hour is no escalation. Above
    means at least 5 members, twice the forecast and four standard deviations over it. The deviation
    is Poisson's, or that of the past hours around their own forecasts where that is larger.

    >>> quiet = [Hour(members=2, requests=1000)] * 48
    >>> [is_above_forecast(quiet, Hour(members=n, requests=1000)) for n in (4, 9)]
    [False, True]
    >>> is_above_forecast(quiet, Hour(members=9, requests=5000))
    False
    """
    hours = [past_hour for past_hour in past[-PAST_HOURS:] if past_hour.requests > 0]
    if len(hours) < LEAST_HOURS:
        return None
    rate = sum(past_hour.members for past_hour in hours) / sum(
        past_hour.requests for past_hour in hours
    )
    forecast = rate * hour.requests
    limit = max(FACTOR * forecast, forecast + DEVIATIONS * sqrt(_spread(hours, rate) * forecast))
    return hour.members >= LEAST_MEMBERS and hour.members > limit


def _spread(past: Sequence[Hour], rate: float) -> float:
    """Variance of the hours' counts over their forecasts; at least 1, which is Poisson's."""
    if rate <= 0:
        return 1.0
    squares = [
        (past_hour.members - rate * past_hour.requests) ** 2 / (rate * past_hour.requests)
        for past_hour in past
    ]
    return max(1.0, sum(squares) / (len(squares) - 1))
