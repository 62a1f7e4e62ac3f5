"""The share of a label: found on a slow route within the hour, and no news by its bar alone."""

from __future__ import annotations

import pytest

from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved import MovedDetector
from alerts.signals.settings import MovedSettings
from ragvigil.model.finding import Finding
from ragvigil.model.signal import UNSUPPORTED
from tests.unit.alerts.minute_tables import START, add, hours, named, rate

LABEL = named(UNSUPPORTED)


def past(share: float, an_hour: float = 60.0, *, count: int = 26) -> SignalMinutes:
    """Hours of answers of which this share has the label, and two more by the minute."""
    table = hours(lambda _: {LABEL: rate(share * an_hour, an_hour)}, count)
    start = START + count * HOUR
    for place in range(120):
        add(table, start + place * MINUTE, {LABEL: rate(share * an_hour / 60, an_hour / 60)})
    return table


def watch(
    watched: MovedDetector,
    table: SignalMinutes,
    minutes: int,
    share: float,
    an_hour: float = 60.0,
) -> list[tuple[int, Finding]]:
    """Every finding with the minute of its step; minutes count from the end of the table."""
    start, given = table.end, []
    for place in range(minutes):
        minute = start + place * MINUTE
        add(table, minute, {LABEL: rate(share * an_hour / 60, an_hour / 60)})
        given += [(place + 1, finding) for finding in watched.step(table, minute + MINUTE, {})]
    return given


def test_a_label_on_three_of_ten_answers_of_a_slow_route_is_found_within_the_hour() -> None:
    """By the scatter of the window itself it would be 4.5 standard errors, which is not enough."""
    minute, found = watch(MovedDetector(MovedSettings()), past(0.02), 60, 0.28)[0]
    assert minute <= 60
    assert found.words.startswith(
        "the share of answers that the local model finds unsupported rose from at most 0.05 to "
    )
    assert found.value is not None
    assert found.low is not None
    assert 0.05 < found.low < found.value - 0.05, "the interval is that of the answers found"


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.05), (0.05, 0.0), (0.4, 0.05)])
@pytest.mark.parametrize("an_hour", [60.0, 1200.0])
def test_what_another_bar_does_is_no_move(before: float, after: float, an_hour: float) -> None:
    table = past(before, an_hour)
    assert not watch(MovedDetector(MovedSettings()), table, 180, after, an_hour)


def test_it_is_over_within_half_an_hour_of_the_fix() -> None:
    watched, table = MovedDetector(MovedSettings()), past(0.02)
    watch(watched, table, 120, 0.28)
    given = watch(watched, table, 60, 0.02)
    minute, cleared = given[-1]
    assert not cleared.is_open
    assert minute <= 30
    assert cleared.words.startswith("back: the share of answers")


def test_it_lasts_while_its_share_does() -> None:
    watched, table = MovedDetector(MovedSettings()), past(0.02)
    given = watch(watched, table, 240, 0.28)
    assert len({found.finding_id for _, found in given}) == 1
    assert given[-1][1].is_open
