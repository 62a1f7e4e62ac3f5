"""The share of the CPU: optional work waits until what was spent has been waited off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.inference.share import SAVED_SECONDS, CpuShare

shares = st.floats(0.01, 8)
steps = st.lists(st.tuples(st.floats(0, 30), st.floats(0, 20)), max_size=60)
"""Pairs of time that passes and CPU seconds that the work then takes."""


@given(share=shares, steps=steps)
def test_work_that_asks_first_stays_in_its_share_over_time(
    share: float, steps: list[tuple[float, float]]
) -> None:
    bucket, now, spent, last = CpuShare(share, now=0.0), 0.0, 0.0, 0.0
    for waited, cost in steps:
        now += waited
        if bucket.may_run(now):
            bucket.spend(cost)
            spent, last = spent + cost, cost
    assert spent - last <= share * (now + SAVED_SECONDS) + 1e-6


@given(share=shares, debt=st.floats(0.01, 1000))
def test_what_was_spent_is_waited_off_and_no_longer(share: float, debt: float) -> None:
    bucket = CpuShare(share, now=0.0)
    bucket.spend(share * SAVED_SECONDS + debt)
    assert not bucket.may_run(debt / share * 0.999)
    assert bucket.may_run(debt / share * 1.001 + 0.001)


@given(share=shares, quiet=st.floats(0, 1e6))
def test_a_quiet_time_saves_no_more_than_a_minute(share: float, quiet: float) -> None:
    bucket = CpuShare(share, now=0.0)
    assert bucket.may_run(quiet)
    bucket.spend(share * SAVED_SECONDS * 1.001)
    assert not bucket.may_run(quiet)


def test_a_clock_that_runs_backwards_gives_nothing_twice() -> None:
    bucket = CpuShare(1.0, now=100.0)
    bucket.spend(SAVED_SECONDS + 10)
    assert [bucket.may_run(now) for now in (105, 95, 105, 109)] == [False] * 4
    assert bucket.may_run(111)
