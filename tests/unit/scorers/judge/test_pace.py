"""What the judge's pace leaves of the sampling rates."""

from __future__ import annotations

import pytest

from scorers.judge.pace import Pace, Thinning
from scorers.judge.sampling import LEAST_THINNING

ROOM = 10_000


def hours(sampled: float, judged: float, *, minutes: int = 240) -> list[tuple[float, float]]:
    """Factor and minutes of waiting, minute by minute, of a judge that can do `judged` a minute."""
    pace, factor, queue, seen = Pace(), 1.0, 0.0, []
    for _ in range(minutes):
        done = min(judged, queue + sampled * factor)
        queue = min(ROOM, queue + sampled * factor - done)
        pace.count(round(done))
        factor = pace.next_factor(overdue=round(queue), fill=queue / ROOM, minutes=1.0)
        seen.append((factor, queue / judged))
    return seen


@pytest.mark.parametrize(("sampled", "judged"), [(88, 44), (500, 100), (100, 10), (1100, 330)])
def test_the_rates_settle_at_what_the_judge_can_do(sampled: float, judged: float) -> None:
    late = hours(sampled, judged)[120:]
    assert all(factor == pytest.approx(judged / sampled, rel=0.15) for factor, _ in late)
    assert max(wait for _, wait in late) < 20


def test_a_judge_that_keeps_up_has_all_of_its_sample() -> None:
    assert all(factor == 1.0 for factor, _ in hours(100, 150))


def test_before_the_first_record_is_begun_nothing_is_thinned() -> None:
    assert Pace().next_factor(overdue=5000, fill=0.5, minutes=1.0) == 1.0


def test_answers_that_come_at_once_thin_nothing() -> None:
    pace = Pace()
    for begun, overdue in ((2, 1), (2, 1), (2, 0), (2, 60)):
        pace.count(begun)
        assert pace.next_factor(overdue=overdue, fill=0.1, minutes=1.0) == 1.0


def test_a_short_pause_changes_little() -> None:
    pace = Pace()
    for begun in (100, 100, 0, 0):
        pace.count(begun)
        factor = pace.next_factor(overdue=200, fill=0.1, minutes=1.0)
    assert factor == 1.0


def test_before_a_queue_is_full_the_rates_are_at_their_least() -> None:
    pace = Pace()
    assert pace.next_factor(overdue=0, fill=0.8, minutes=1.0) == 1.0
    assert pace.next_factor(overdue=0, fill=1.0, minutes=1.0) == pytest.approx(LEAST_THINNING)


def test_the_scarcer_of_budget_and_pace_decides() -> None:
    assert Thinning(budget=0.2, pace=0.5).factor == 0.2
    assert Thinning(budget=0.7, pace=0.5).factor == 0.5
