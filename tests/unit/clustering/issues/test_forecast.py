"""When an issue grows faster than forecast."""

from __future__ import annotations

import doctest
import random

import clustering.issues.forecast
from clustering.issues.forecast import Hour, is_above_forecast


def hours(*members: int, requests: int = 1000) -> list[Hour]:
    return [Hour(members=count, requests=requests) for count in members]


def test_the_examples_hold() -> None:
    assert doctest.testmod(clustering.issues.forecast).failed == 0


def test_a_past_of_less_than_a_day_forecasts_nothing() -> None:
    assert is_above_forecast(hours(*[1] * 23), Hour(members=90, requests=1000)) is None
    assert is_above_forecast(hours(*[1] * 24), Hour(members=90, requests=1000))
    silent = hours(*[0] * 24, requests=0)
    assert is_above_forecast(silent, Hour(members=90, requests=1000)) is None


def test_four_members_never_are_an_escalation() -> None:
    assert not is_above_forecast(hours(*[0] * 48), Hour(members=4, requests=1000))
    assert is_above_forecast(hours(*[0] * 48), Hour(members=5, requests=1000))


def test_an_issue_that_always_comes_in_bursts_is_allowed_one() -> None:
    bursts = hours(*[0, 0, 0, 0, 0, 18] * 8)
    steady = hours(*[3] * 48)
    assert not is_above_forecast(bursts, Hour(members=18, requests=1000))
    assert is_above_forecast(steady, Hour(members=18, requests=1000))


def test_a_steady_issue_seldom_escalates() -> None:
    rng = random.Random(3)
    made = hours(*(sum(rng.random() < 0.008 for _ in range(1000)) for _ in range(600)))
    raised = [is_above_forecast(made[:place], made[place]) for place in range(24, 600)]
    assert sum(map(bool, raised)) <= 1
