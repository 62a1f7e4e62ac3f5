"""When something began: a time, and the times between which it lies."""

from __future__ import annotations

import numpy as np
import pytest

from alerts.deltas.windows import Floats
from alerts.signals.minutes import MINUTE
from alerts.signals.onset import Onset, best_start
from tests.unit.alerts.minute_tables import START, named, table, values

LENGTH = 180
PLACES = np.array([0])


def onset_of(change: int, silence: range, size: float, a_minute: float) -> Onset:
    """Values of 0 that rise by `size` standard deviations; none in the minutes of the silence."""
    of_zero, of_one = values(0.0, a_minute, 1.0), values(size, a_minute, 1.0)
    series = named("score")
    filled = table(
        lambda at: {} if at in silence else {series: of_one if at >= change else of_zero}, LENGTH
    )

    def likelihood(sums: Floats) -> Floats:
        return np.asarray(np.maximum(sums[1, :, 0], 0) ** 2 / (2 * np.maximum(sums[0, :, 0], 1)))

    found = best_start(filled, PLACES, START + LENGTH * MINUTE, likelihood, earliest=START)
    seconds = (found.start, found.earliest, found.latest)
    start, first, last = ((each - START) // MINUTE for each in seconds)
    return Onset(start=start, earliest=first, latest=last)


def test_a_clear_change_is_dated_to_the_minute() -> None:
    assert onset_of(150, range(0), 3.0, 5) == Onset(start=150, earliest=150, latest=150)


def test_what_came_after_a_silence_may_have_begun_in_it() -> None:
    """As where answers arrive late: the last one from before bounds the onset."""
    found = onset_of(150, range(20, 150), 3.0, 5)
    assert found == Onset(start=150, earliest=20, latest=150)
    assert (found.apart(17), found.apart(20), found.apart(152)) == (3, 0, 2)


@pytest.mark.parametrize(("a_minute", "most"), [(0.5, 60), (5, 10)])
def test_few_values_bound_an_onset_less(a_minute: float, most: int) -> None:
    found = onset_of(150, range(0), 1.0, a_minute)
    assert found.earliest < found.start == 150 < found.latest
    assert 150 - found.earliest <= most
