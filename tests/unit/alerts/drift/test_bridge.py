"""The level of a series under another judge, from what the canary says of both."""

from __future__ import annotations

import numpy as np
import pytest

from alerts.drift.bridge import Offset, bridged, offset
from alerts.drift.state import DriftState, empty
from tests.unit.alerts.drift.test_detect import START, TICK, WEEK, Stream, run


def test_the_offset_is_that_of_the_answers_that_both_have_scored() -> None:
    rng = np.random.default_rng(3)
    before = {str(place): 0.7 for place in range(60)}
    after = {str(place): 0.6 + float(rng.normal(0, 0.1)) for place in range(10, 60)}
    found = offset(before, after)
    assert found is not None
    assert found.shift == pytest.approx(-0.1, abs=0.03)
    assert found.error == pytest.approx(0.1 / 50**0.5, abs=0.005)
    assert offset(before, {"0": 0.5}) is None


def test_a_harsher_judge_is_no_drop_and_hears_one_at_once() -> None:
    states = empty(4)
    run(states, [Stream()] * 4, range(WEEK))
    shift = Offset(shift=-0.08, error=0.02)
    after = bridged(states, shift, START + WEEK * TICK)
    assert (after["state"] == DriftState.OK).all()
    healthy = after.copy()
    harsher = [Stream(drop=0.06)] * 4
    assert max(run(healthy, harsher, range(WEEK, WEEK + 600))) == 0
    worse = [Stream(drop=0.35)] * 4
    assert run(after, worse, range(WEEK, WEEK + 250))[-1] == 4


def test_without_a_canary_only_the_spreads_carry_over() -> None:
    states = empty(1)
    run(states, [Stream()], range(WEEK))
    after = bridged(states, None, START)
    assert after["state"][0] == DriftState.LEARNING
    assert after["variance"][0] == states["variance"][0]
    assert after["n"].sum() == 0
