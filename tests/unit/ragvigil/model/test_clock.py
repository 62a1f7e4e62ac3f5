"""The daemon's clock is the time of the day, or a faster one that everybody reads alike."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.clock import VARIABLE, BadClock, Pace, pace


def test_without_the_variable_it_is_the_time_of_the_day() -> None:
    before = time.time()
    assert before <= pace({}).now() <= time.time()
    assert abs(pace({}).now_nanos() - time.time_ns()) < 10**9


@given(factor=st.floats(1, 10_000), seconds=st.floats(0, 1e6))
def test_it_runs_so_much_faster_from_the_moment_of_agreement(factor: float, seconds: float) -> None:
    made = Pace(factor=factor, origin=1_767_225_600)
    passed = made.at(made.origin + seconds) - made.origin
    assert passed == pytest.approx(factor * seconds, rel=1e-9, abs=0.1)


def test_a_minute_a_second_is_read_from_the_environment() -> None:
    origin = time.time() - 10
    found = pace({VARIABLE: f"60@{origin}"})
    assert found.factor == 60
    assert 600 <= found.now() - origin < 600 + 60 * 5
    assert abs(found.now_nanos() / 1e9 - found.now()) < 60


@pytest.mark.parametrize("text", ["fast", "60", "60@", "@5", "0.5@0", "nan@0", "1e9@0"])
def test_what_is_no_pace_is_one_sentence(text: str) -> None:
    with pytest.raises(BadClock, match=f"RAGVIGIL_CLOCK: {text} is not FACTOR@SECONDS"):
        pace({VARIABLE: text})
