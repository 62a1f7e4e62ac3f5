"""Which ticks are due: every tick is computed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alerts.deltas.ticks import ChangedMinutes, DueTicks, due, tick_after
from alerts.deltas.windows import TICK_SECONDS

NOON = 1_767_268_800


def at(
    now: int, computed_until: int | None = None, changed: ChangedMinutes | None = None
) -> DueTicks:
    return due(now, computed_until=computed_until, changed=changed, close_late_seconds=600)


def test_the_running_tick_is_shown_and_closes_ten_minutes_late() -> None:
    found = at(NOON + 30, computed_until=NOON - 900)
    assert list(found.current) == [NOON - 600, NOON - 300, NOON, NOON + 300]
    assert found.closed_until == NOON - 600


def test_a_tick_exactly_at_its_end_is_the_running_one() -> None:
    assert at(NOON, computed_until=NOON - 900).current[-1] == NOON


def test_after_a_pause_every_missed_tick_runs() -> None:
    found = at(NOON + 30, computed_until=NOON - 7200)
    assert list(found.current) == list(range(NOON - 6900, NOON + 301, 300))


def test_a_late_record_amends_a_day_of_ticks() -> None:
    late = ChangedMinutes(first=NOON - 3 * 86_400 + 60, last=NOON - 3 * 86_400 + 60, newest=NOON)
    found = at(NOON, computed_until=NOON - 900, changed=late)
    assert found.amended[0] == NOON - 3 * 86_400 + 300
    assert found.amended[-1] == NOON - 2 * 86_400 + 300
    assert len(found.amended) == 289


def test_a_backfill_runs_all_its_ticks_in_order() -> None:
    filled = ChangedMinutes(first=NOON - 8 * 86_400, last=NOON - 60, newest=NOON - 60)
    found = at(NOON, changed=filled)
    ticks = [*found.amended, *found.current]
    assert ticks == list(range(NOON - 8 * 86_400 + 300, NOON + 1, 300))


def test_an_old_backfill_ends_with_its_own_last_tick() -> None:
    old = NOON - 700 * 86_400
    found = at(NOON, changed=ChangedMinutes(first=old, last=old + 3540, newest=old + 3540))
    assert list(found.amended) == list(range(old + 300, old + 3601, 300))


def test_after_an_old_backfill_the_years_between_are_not_due() -> None:
    assert len(at(NOON, computed_until=NOON - 700 * 86_400).current) < 300


def test_what_changed_in_open_ticks_amends_nothing() -> None:
    assert not at(
        NOON,
        computed_until=NOON - 900,
        changed=ChangedMinutes(first=NOON - 60, last=NOON, newest=NOON),
    ).amended


@given(runs=st.lists(st.integers(1, 5000), min_size=2, max_size=30))
def test_every_tick_is_computed_once_closed(runs: list[int]) -> None:
    now, computed_until, closed = NOON, None, set()
    for pause in runs:
        now += pause
        found = at(now, computed_until=computed_until)
        closed |= {tick for tick in found.current if tick <= found.closed_until}
        computed_until = max(closed)
    assert closed == set(range(min(closed), max(closed) + 1, TICK_SECONDS))
    assert max(closed) <= now - 600


def test_the_first_tick_that_holds_a_time_ends_after_it() -> None:
    assert tick_after(NOON) == NOON + 300
    assert tick_after(NOON - 1) == NOON
