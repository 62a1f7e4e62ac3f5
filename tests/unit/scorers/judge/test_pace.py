"""The rates sink with the budget and recover with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scorers.judge.pace import LEAST, thinned

AMOUNT = st.floats(0, 1e9)
LIMIT = st.none() | st.floats(0, 1e9)


@given(st.floats(LEAST, 1), st.tuples(AMOUNT, AMOUNT), st.tuples(LIMIT, LIMIT))
def test_the_thinning_stays_a_share_that_can_recover(
    before: float, spent: tuple[float, float], allowed: tuple[float | None, float | None]
) -> None:
    assert LEAST <= thinned(before, spent=spent, allowed=allowed) <= 1


def test_without_a_budget_nothing_is_thinned() -> None:
    assert thinned(1.0, spent=(10**9, 10.0), allowed=(None, None)) == 1.0


def test_the_scarcer_of_tokens_and_money_decides() -> None:
    assert thinned(1.0, spent=(1, 9.9), allowed=(1000, 10.0)) == 0.5


def test_a_budget_of_nothing_is_spent() -> None:
    assert thinned(1.0, spent=(0, 0.0), allowed=(0, None)) == 0.5
