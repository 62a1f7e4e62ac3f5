"""Values that failing records clearly have more often than passing ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clustering.rca.contrasts import alike, contrasts
from tests.root_causes import compared


def records(count: int, **dimensions: str) -> list:  # type: ignore[type-arg]
    return [compared(number, **dimensions) for number in range(count)]


def test_a_version_that_only_failing_records_have_comes_first() -> None:
    failing = [*records(38, prompt="7", locale="de"), *records(2, prompt="6", locale="de")]
    passing = [*records(12, prompt="7", locale="en"), *records(288, prompt="6", locale="de")]
    (first,) = contrasts(failing, passing)
    assert (first.dimension, first.value) == ("prompt", "7")
    assert (first.failing, first.of_failing, first.passing, first.of_passing) == (38, 40, 12, 300)


def test_a_difference_that_chance_can_make_is_none() -> None:
    failing = [*records(3, model="a"), *records(2, model="b")]
    passing = [*records(50, model="a"), *records(50, model="b")]
    assert contrasts(failing, passing) == []


def test_records_that_do_not_say_a_dimension_are_not_counted() -> None:
    failing = [*records(30, prompt="7"), *records(30)]
    (contrast,) = contrasts(failing, [*records(100, prompt="6"), *records(100)])
    assert (contrast.of_failing, contrast.of_passing) == (30, 100)


def test_against_nothing_nothing_is_said() -> None:
    assert contrasts(records(100, prompt="7"), []) == []
    assert contrasts(records(100, prompt="7"), records(100)) == []


@given(st.integers(0, 200), st.integers(0, 200))
def test_records_alike_on_both_sides_are_never_told_apart(failing: int, passing: int) -> None:
    assert contrasts(records(failing, prompt="7"), records(passing, prompt="7")) == []


def test_those_asked_alike_are_told_by_the_words_in_common() -> None:
    near = compared(1, "How long do card refunds take?")
    far = compared(2, "When does the shop open on Sunday?")
    nothing = compared(3, "¿?")
    assert alike("How long do refunds to a card take?", [far, nothing, near], most=1) == [near]
    assert alike(None, [near, far]) == []
