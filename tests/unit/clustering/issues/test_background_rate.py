"""Which groups exceed the background of failures."""

from __future__ import annotations

import doctest
from math import isclose

from hypothesis import given
from hypothesis import strategies as st

import clustering.issues.background_rate
from clustering.issues.background_rate import Background, is_above

COUNTS = st.integers(0, 300)
REQUESTS = st.integers(0, 20_000)


def test_the_examples_hold() -> None:
    assert doctest.testmod(clustering.issues.background_rate).failed == 0


def test_without_knowledge_the_prior_speaks_and_traffic_replaces_it() -> None:
    assert Background().rate == 0.005
    assert isclose(Background(failing=1000, requests=100_000).rate, 0.01, rel_tol=0.01)


def test_two_records_are_never_a_group() -> None:
    assert not is_above(2, 2, Background(requests=10**6))


def test_the_same_three_records_stand_out_among_few_requests_only() -> None:
    assert is_above(3, 60, Background())
    assert not is_above(3, 6000, Background())


def test_a_great_count_is_no_trouble() -> None:
    assert is_above(50_000, 10**6, Background(failing=100, requests=10**5))
    assert not is_above(50_000, 10**8, Background(failing=100, requests=10**5))


@given(COUNTS, REQUESTS, COUNTS, REQUESTS)
def test_more_members_never_stand_out_less_and_more_background_never_more(
    count: int, requests: int, failing: int, seen: int
) -> None:
    if is_above(count, requests, Background(failing=failing, requests=seen)):
        assert is_above(count + 1, requests, Background(failing=failing, requests=seen))
        assert is_above(count, requests // 2, Background(failing=failing, requests=seen))
        assert is_above(count, requests, Background(failing=failing // 2, requests=seen))
