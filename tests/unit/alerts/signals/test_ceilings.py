"""The proof that a rate is over: never cheaper than the exact binomial tail."""

from __future__ import annotations

from math import comb, exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.signals.ceilings import Ceilings, evidence
from alerts.signals.settings import BrokenSettings
from ragvigil.model.wilson import wilson


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.001, 0.999))
def test_the_bound_is_never_under_the_exact_tail(n: int, failed: int, rate: float) -> None:
    failed = min(failed, n)
    tail = sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(failed, n + 1))
    assert exp(-evidence(failed, n, rate)) >= tail * (1 - 1e-9)


def test_no_requests_prove_nothing_and_bound_nothing() -> None:
    assert evidence(0, 0, 0.1) == 0
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 500), st.integers(0, 500))
def test_an_interval_holds_its_share(n: int, failed: int) -> None:
    failed = min(failed, n)
    low, high = wilson(failed, n)
    assert 0 <= low <= failed / n <= high <= 1


@pytest.mark.parametrize(
    ("route", "ceiling"), [("/a", 0.5), ("/b", 0.15), ("/c", 0.4), ("/d", 0.9)]
)
def test_the_ceiling_of_a_route_is_the_narrowest_that_is_set(route: str, ceiling: float) -> None:
    settings = BrokenSettings.model_validate(
        {
            "routes": {
                "/a": {"refusals": 0.5},
                "/b": {"errors": 0.5},
                "/c": {"refusals": 0.3},
                "shop/c": {"refusals": 0.4},
            }
        }
    )
    accepted = {
        ("shop", "live", "refusal:refused", "/d"): 0.9,
        ("shop", "live", "refusal:refused", "/a"): 0.1,
    }
    found = Ceilings(settings, accepted).of(("shop", "live", "refusal:refused", route))
    assert found == ceiling
