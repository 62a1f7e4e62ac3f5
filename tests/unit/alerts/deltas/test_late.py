"""Scores that come after their tick has closed are counted, once."""

from __future__ import annotations

import numpy as np

from alerts.deltas.late import LateScores
from alerts.deltas.windows import DAY, TICK_SECONDS, Rollups
from tests.unit.alerts.score_streams import START, series


def read(scores: list[float], start: int = START) -> Rollups:
    """Roll-ups of a rubric, and of the share that fails, from so many scores a tick."""
    counts = np.zeros((5, len(scores), 2))
    counts[0] = np.array(scores)[:, None]
    return Rollups(series=(series(), series("groundedness:failed")), start=start, counts=counts)


def closed(ticks: int) -> int:
    return START + ticks * TICK_SECONDS


def test_only_what_is_new_in_a_closed_tick_is_late() -> None:
    late = LateScores()
    assert late.count(read([4, 4, 4, 1]), closed(3)) == 0
    assert late.count(read([4, 4, 4, 5]), closed(3)) == 0
    assert late.count(read([4, 7, 4, 5]), closed(4)) == 3
    assert late.count(read([4, 7, 4, 5]), closed(4)) == 0
    assert late.count(read([4, 7, 4, 6, 9]), closed(4)) == 1


def test_a_second_read_of_the_same_run_counts_nothing_twice() -> None:
    late = LateScores()
    late.count(read([4, 4, 4]), closed(3))
    assert late.count(read([4, 6]), closed(3)) == 2
    assert late.count(read([4, 6, 4]), closed(3)) == 0


def test_an_import_of_earlier_days_is_not_late() -> None:
    late = LateScores()
    late.count(read([0.0] * (DAY + 3)), closed(DAY + 3))
    assert late.count(read([50.0, 50.0] + [0.0] * (DAY + 1)), closed(DAY + 3)) == 0


def test_scores_that_go_away_are_none() -> None:
    late = LateScores()
    late.count(read([4, 4]), closed(2))
    assert late.count(read([1, 4]), closed(2)) == 0
