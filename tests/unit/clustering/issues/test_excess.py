"""How many answers are as before, from the values of before and of now."""

from __future__ import annotations

import doctest

import pytest

from clustering.issues import excess
from clustering.issues.excess import share_as_before

PAST = [100] * 10


def test_the_examples_hold() -> None:
    assert doctest.testmod(excess).failed == 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_the_share_is_never_taken_for_smaller_than_it_is(share: float) -> None:
    changed = [1000, *[0] * 9]
    now = [round(share * p + (1 - share) * c) for p, c in zip(PAST, changed, strict=True)]
    assert share - 0.01 <= share_as_before(PAST, now) <= share + 0.13


def test_few_values_of_before_tell_nothing() -> None:
    assert share_as_before([1, 1, 10], [12, 0, 0]) == 1.0
