"""Pauses double up to a longest one, are jittered, and keep what a server asked for."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.backoff import Backoff, Pause

BACKOFF = Backoff(first_seconds=1.0, longest_seconds=60.0)


def pauses(lifetimes: list[float], healthy_seconds: float) -> list[float]:
    """The pause after each of these lifetimes of a process that keeps ending."""
    pause, now, seconds = Pause(BACKOFF, healthy_seconds=healthy_seconds), 0.0, []
    for lifetime in lifetimes:
        now += lifetime
        seconds.append(pause.failed(now))
        assert not pause.is_over(now + seconds[-1] - 0.01)
        assert pause.remaining(now) == pytest.approx(seconds[-1])
        now += seconds[-1]
        assert pause.is_over(now)
    return seconds


def test_the_first_attempt_is_due_at_once() -> None:
    assert Pause(BACKOFF).is_over(0.0)
    assert Pause(BACKOFF).remaining(0.0) == 0.0


def test_each_failure_in_a_row_doubles_the_pause_up_to_the_longest() -> None:
    assert pauses([0.1] * 8, 60.0) == [1, 2, 4, 8, 16, 32, 60, 60]


def test_what_ran_for_long_begins_again_with_the_shortest_pause() -> None:
    assert pauses([0.1, 0.1, 0.1, 100, 0.1], 60.0) == [1, 2, 4, 1, 2]
    assert pauses([0.1, 0.1, 0.1, 60, 0.1], 60.0) == [1, 2, 4, 8, 16]


def test_a_success_forgets_the_failures() -> None:
    pause = Pause(BACKOFF)
    assert [pause.failed(0.0), pause.failed(1.0)] == [1, 2]
    pause.succeeded()
    assert pause.is_over(1.0)
    assert pause.failed(1.0) == 1


@given(st.integers(1, 10_000), st.integers())
def test_a_jittered_pause_lies_between_zero_and_its_doubling_span(failures: int, seed: int) -> None:
    backoff = Backoff(first_seconds=0.5, longest_seconds=8.0)
    pause = backoff.jittered_seconds(failures, requested=None, chance=random.Random(seed))
    assert 0 <= pause <= backoff.seconds(failures) == min(0.5 * 2.0 ** min(failures - 1, 60), 8.0)


def test_clients_that_fail_together_do_not_come_back_together() -> None:
    for requested in (None, 5.0):
        pauses = {
            BACKOFF.jittered_seconds(4, requested=requested, chance=random.Random(seed))
            for seed in range(50)
        }
        assert len(pauses) == 50


@given(st.floats(0, 1e9), st.integers(1, 50), st.integers())
def test_a_requested_pause_is_kept_unless_it_is_too_long(
    requested: float, failures: int, seed: int
) -> None:
    backoff = Backoff(first_seconds=0.5, longest_seconds=30.0)
    pause = backoff.jittered_seconds(failures, requested=requested, chance=random.Random(seed))
    assert min(requested, 30) <= pause <= min(requested * 1.1, 30)
