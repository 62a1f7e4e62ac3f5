"""Unmeasured, trusted, retired: when a status changes, and why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.calibration.kappa import Kappa, kappa_with_interval
from scorers.calibration.status import JudgeState, status_of

UNMEASURED, TRUSTED, RETIRED = JudgeState.UNMEASURED, JudgeState.TRUSTED, JudgeState.RETIRED


@pytest.mark.parametrize(
    ("kappa", "state", "reason"),
    [
        (Kappa(n=0), UNMEASURED, "0 labels; 30 more are needed to measure the judge"),
        (Kappa(n=29, value=0.1, low=0.0, high=0.2), UNMEASURED, "29 labels; 1 more"),
        (Kappa(n=30, value=0.1, low=0.0, high=0.2), RETIRED, "the whole interval lies under 0.7"),
        (Kappa(n=200, value=0.6, low=0.5, high=0.69), RETIRED, "kappa 0.60 (0.50 to 0.69) on 200"),
        (Kappa(n=200, value=0.6, low=0.5, high=0.7), TRUSTED, "chance may explain that"),
        (Kappa(n=50, value=0.8, low=0.6, high=0.9), TRUSTED, "kappa 0.80 (0.60 to 0.90) on 50"),
        (Kappa(n=60), UNMEASURED, "labels and judge said one and the same of every record"),
        (Kappa(n=60, value=0.0), UNMEASURED, "no interval can be given"),
    ],
)
def test_a_state_follows_from_labels_and_interval(
    kappa: Kappa, state: JudgeState, reason: str
) -> None:
    status = status_of(kappa)
    assert status.state is state
    assert reason in status.reason


@given(st.integers(0, 400), st.floats(-1, 1), st.floats(0, 0.5), st.floats(0, 0.5))
def test_only_evidence_retires_a_judge(n: int, value: float, below: float, above: float) -> None:
    status = status_of(Kappa(n=n, value=value, low=value - below, high=value + above))
    assert (status.state is RETIRED) == (n >= 30 and value + above < 0.7)
    assert (status.state is UNMEASURED) == (n < 30)
    assert status.reason


def share_retired(agreement: float, labels: int, runs: int = 100) -> float:
    """The share of judges with this agreement that are retired; half of the records pass."""
    rng = np.random.default_rng(4)
    retired = 0
    for run in range(runs):
        people = rng.random(labels) < 0.5
        judge = people ^ (rng.random(labels) > agreement)
        kappa = kappa_with_interval(list(people.astype(float)), list(judge.astype(float)), seed=run)
        retired += status_of(kappa).state is RETIRED
    return retired / runs


def test_a_judge_at_the_bar_is_kept_and_a_bad_one_is_found() -> None:
    """Agreement on 85.5 % of such records is a kappa of 0.71, on 75 % one of 0.5."""
    assert share_retired(0.855, 50) <= 0.05
    assert share_retired(0.855, 200) <= 0.05
    assert share_retired(0.75, 200) >= 0.9
