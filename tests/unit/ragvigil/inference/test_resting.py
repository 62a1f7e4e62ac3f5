"""A process that keeps ending is left alone for longer and longer, up to a minute."""

from __future__ import annotations

from ragvigil.inference.resting import LONGEST_SECONDS, Rest


def pauses(lifetimes: list[float]) -> list[float]:
    """After each lifetime the whole seconds until the next process may start."""
    rest, now, found = Rest(), 0.0, []
    for lived in lifetimes:
        now += lived
        rest.ended(now)
        pause = next(second for second in range(1000) if rest.is_over(now + second))
        found.append(pause)
        now += pause
    return found


def test_the_first_process_may_start_at_once() -> None:
    assert Rest().is_over(0.0)


def test_each_end_in_a_row_doubles_the_pause_up_to_a_minute() -> None:
    assert pauses([0.1] * 8) == [1, 2, 4, 8, 16, 32, LONGEST_SECONDS, LONGEST_SECONDS]


def test_a_process_that_lived_for_long_begins_with_the_shortest_pause() -> None:
    assert pauses([0.1, 0.1, 0.1, 100, 0.1]) == [1, 2, 4, 1, 2]
