"""A row stands until the next of its series and window; older changes are kept by the hour."""

from __future__ import annotations

import time
from dataclasses import replace

from ragvigil.model.delta import Delta, Series
from ragvigil.store.engine.migrate import migrations
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas, ticks
from ragvigil.store.scores.rubric_deltas import DELTAS, HOUR, DeltaFilter

NANOS = 10**9
NOON = int(time.time()) // HOUR * HOUR - HOUR
NOW = NOON + 1500
QUIET = Series(service="s", environment="", route="/quiet", rubric="groundedness", segment="r1")
BUSY = replace(QUIET, route="/busy")
OVER = replace(QUIET, route="/over")
ALL = DeltaFilter(window="6h")


def delta(series: Series, tick: int, mean: float | None = 0.5) -> Delta:
    has_scores = mean is not None
    return Delta(
        series=series, tick=tick, window="6h", mean=mean, n=9 * has_scores,
        coverage=1.0 if has_scores else None, closed=False,
    )  # fmt: skip


def write(store: Store, *deltas: Delta) -> None:
    store.write(rubric_deltas.batch(deltas, NOW * NANOS))


def means(store: Store, filter_: DeltaFilter, now: int = NOW) -> dict[str, float | None]:
    return {row.series.route: row.mean for row in rubric_deltas.latest(store, filter_, now)}


def test_a_series_that_did_not_change_stands_as_in_its_last_row(store: Store) -> None:
    write(store, *(delta(each, NOON) for each in (QUIET, BUSY, OVER)))
    write(store, delta(BUSY, NOON + 900, 0.7), delta(BUSY, NOON + 1200, 0.8))
    write(store, delta(OVER, NOON + 600, None))
    assert means(store, ALL) == {"/quiet": 0.5, "/busy": 0.8}
    rows = rubric_deltas.latest(store, ALL, NOW)
    assert {row.tick for row in rows} == {NOON + 1200}
    assert not any(row.closed for row in rows)
    ticks.mark(store, NOON + 1200, NOW * NANOS)
    assert all(row.closed for row in rubric_deltas.latest(store, ALL, NOW))


def test_the_state_of_an_earlier_time_is_that_of_its_rows(store: Store) -> None:
    write(store, delta(QUIET, NOON), delta(BUSY, NOON, 0.4), delta(BUSY, NOON + 900, 0.7))
    assert means(store, replace(ALL, until=NOON + 600)) == {"/quiet": 0.5, "/busy": 0.4}


def test_a_full_hour_has_a_row_of_all_that_stands_then(store: Store) -> None:
    write(store, delta(QUIET, NOON - HOUR), delta(BUSY, NOON - HOUR), delta(BUSY, NOON, 0.6))
    assert means(store, ALL) == {"/busy": 0.6}


def test_a_tick_is_read_when_all_its_rows_are_written(store: Store) -> None:
    write(store, delta(QUIET, NOON - HOUR), delta(BUSY, NOON - HOUR))
    ticks.mark(store, NOON - 900, (NOON - 350) * NANOS)
    write(store, delta(BUSY, NOON, 0.6))
    assert means(store, ALL) == {"/quiet": 0.5, "/busy": 0.5}
    ticks.mark(store, NOON - 900, (NOON - 250) * NANOS)
    assert means(store, ALL) == {"/busy": 0.6}


def test_a_series_whose_traffic_ended_shows_its_last_scores(store: Store) -> None:
    write(store, delta(OVER, NOON), delta(OVER, NOON + 300, None), delta(BUSY, NOON + 300))
    assert means(store, replace(ALL, route="/over")) == {"/over": 0.5}


def test_hours_are_read_where_changes_are_no_longer_kept(store: Store) -> None:
    old = NOON - 30 * 24 * HOUR
    hourly = [delta(QUIET, old), delta(QUIET, old + HOUR, 0.6)]
    rows = DELTAS.rows(hourly, computed=NOW * NANOS, replica="", epoch=0)
    store.write(rubric_deltas.changes_batch([], rows.values, NOW * NANOS, "hours"))
    write(store, delta(BUSY, NOON))
    assert means(store, replace(ALL, until=old + HOUR + 900)) == {"/quiet": 0.6}
    history = rubric_deltas.since(store, replace(ALL, since=old))
    assert [row.tick for row in history] == [old, old + HOUR, NOON]


def test_an_older_store_goes_on_where_it_was(store: Store) -> None:
    deltas = [replace(delta(QUIET, tick), closed=True) for tick in (NOON, NOON + 300)]
    rows = DELTAS.rows(
        [*deltas, delta(QUIET, NOON + 600)], computed=NOW * NANOS, replica="", epoch=0
    )
    store.write(rubric_deltas.changes_batch([], rows.values, NOW * NANOS, "old"))
    (migration,) = [each for each in migrations() if each.number == 25]
    for sql in migration.statements():
        if sql.startswith("INSERT"):
            store.change(sql)
    assert ticks.newest(store).closed_tick == NOON + 300
    assert ticks.newest(store).computed == NOW * NANOS
    stored = rubric_deltas.digests(store, NOON, NOON + 600)
    assert [sorted(each.ticks) for each in stored] == [[NOON, NOON + 300, NOON + 600]]
    # The hour of a store that is thinned is read once, though both tables have it.
    assert len(rubric_deltas.since(store, ALL)) == 3
