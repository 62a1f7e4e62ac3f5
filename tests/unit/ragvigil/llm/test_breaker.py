"""The circuit breaker leaves a failing endpoint alone, and comes back by one probe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.breaker import Breaker, BreakerState


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(clock: Clock, *, longest_seconds: float = 600.0) -> Breaker:
    """A breaker that has just opened for 10 seconds."""
    breaker = Breaker(failures=3, pause_seconds=10, clock=clock, longest_seconds=longest_seconds)
    for _ in range(3):
        assert breaker.enter()
        breaker.failed()
    return breaker


def test_failures_in_a_row_open_it_and_a_success_between_them_does_not(clock: Clock) -> None:
    breaker = Breaker(failures=3, pause_seconds=10, clock=clock)
    for outcome in ("failed", "failed", "succeeded", "failed", "failed"):
        assert breaker.enter()
        getattr(breaker, outcome)()
    assert breaker.state is BreakerState.CLOSED
    breaker.enter()
    breaker.failed()
    assert breaker.state is BreakerState.OPEN
    assert not breaker.enter()


def test_after_the_pause_one_probe_goes_through_and_no_second(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now = 9.99
    assert not breaker.enter()
    clock.now = 10.0
    assert breaker.state is BreakerState.HALF_OPEN
    assert [breaker.enter(), breaker.enter(), breaker.enter()] == [True, False, False]


def test_a_probe_that_succeeds_closes_it_and_the_count_begins_anew(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now = 10.0
    breaker.enter()
    breaker.succeeded()
    for _ in range(2):
        assert breaker.enter()
        breaker.failed()
    assert breaker.state is BreakerState.CLOSED


def test_each_probe_that_fails_doubles_the_pause_up_to_the_longest(clock: Clock) -> None:
    breaker = opened(clock, longest_seconds=25)
    pauses = []
    for _ in range(4):
        began = clock.now
        while not breaker.enter():
            clock.now += 1
        pauses.append(clock.now - began)
        breaker.failed()
    assert pauses == [10, 20, 25, 25]


def test_a_probe_that_is_given_up_makes_room_for_the_next(clock: Clock) -> None:
    breaker = opened(clock)
    clock.now = 10.0
    breaker.enter()
    breaker.cancelled()
    assert breaker.enter()


def test_calls_in_flight_when_it_opened_do_not_lengthen_the_pause(clock: Clock) -> None:
    breaker = opened(clock)
    for _ in range(29):
        breaker.failed()
    clock.now = 10.0
    assert breaker.enter()


@given(st.lists(st.sampled_from(["succeeded", "failed", "cancelled", "wait"]), max_size=60))
def test_whatever_happens_it_lets_a_call_through_again(outcomes: list[str]) -> None:
    clock = Clock()
    breaker = Breaker(failures=2, pause_seconds=5, clock=clock, longest_seconds=40)
    for outcome in outcomes:
        if outcome == "wait":
            clock.now += 3
        elif breaker.enter():
            getattr(breaker, outcome)()
    clock.now += 40
    assert breaker.enter()
