"""Moved numbers: found within the hour, quiet through waves and odd days, over after a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log, pi, sin

import numpy as np
import pytest

from alerts.signals.catalogue import accepted_key
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved import MovedDetector
from alerts.signals.settings import MovedSettings
from ragvigil.model.delta import Series
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.score import Layer
from tests.unit.alerts.minute_tables import START, Cell, add, hours, named, values

USE = "chunk_utilization"
DAYS = 5
NOW = START + (24 * DAYS + 2) * HOUR
Level = Callable[[int, str], float]
"""A mean by hour since START and route."""


def past(level: Level, routes: tuple[str, ...] = ("/a",), *, days: float = DAYS) -> SignalMinutes:
    """Days of 80 requests an hour and route; nothing of the last two hours yet."""
    count = int(24 * days)

    def cells(hour: int) -> Mapping[Series, Cell]:
        return {named(USE, route): values(level(hour, route), 80, 0.2) for route in routes}

    made = hours(cells, count)
    start = START + count * HOUR
    for minute in range(120):
        at = {key: _a_minute(cell) for key, cell in cells(count + minute // 60).items()}
        add(made, start + minute * MINUTE, at)
    return made


def _a_minute(cell: Cell) -> Cell:
    n, total, squares = (part / 60 for part in cell)
    return n, total, squares


def watch(
    watched: MovedDetector,
    table: SignalMinutes,
    minutes: int,
    level: Level,
    routes: tuple[str, ...] = ("/a",),
) -> list[tuple[int, Finding]]:
    """Every finding with the minute of its step; minutes count from the end of the table."""
    start, given = table.end, []
    for place in range(minutes):
        minute = start + place * MINUTE
        hour = (minute - START) // HOUR
        cells = {named(USE, route): values(level(hour, route), 80 / 60, 0.2) for route in routes}
        add(table, minute, cells)
        given += [(place + 1, finding) for finding in watched.step(table, minute + MINUTE, {})]
    return given


def flat(_hour: int, _route: str) -> float:
    return 0.5


def shifted(_hour: int, _route: str) -> float:
    return 0.3


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_move_that_comes_again_began_after_the_last_one_was_over(*, is_restarted: bool) -> None:
    watched, table = MovedDetector(MovedSettings()), past(flat)
    watch(watched, table, 100, shifted)
    cleared = next(found for _, found in watch(watched, table, 60, flat) if not found.is_open)
    if is_restarted:
        watched = MovedDetector(MovedSettings(), [cleared])
    again = table.end
    _, found = watch(watched, table, 60, shifted)[-1]
    assert abs(found.since_unix_nano // 10**9 - again) <= 15 * MINUTE


def test_several_routes_that_are_back_hide_no_move_of_another() -> None:
    watched, routes = MovedDetector(MovedSettings()), ("/a", "/b", "/c")
    table, given = past(flat, routes), []
    for minute in range(110):
        others, slow = 0.3 if minute < 60 else 0.5, 0.3 if minute >= 40 else 0.5
        cells = {named(USE, route): values(others, 80 / 60, 0.2) for route in routes[:2]}
        add(table, table.end, cells | {named(USE, "/c"): values(slow, 40 / 60, 0.2)})
        given += watched.step(table, table.end, {})
    back, found = {finding.routes: finding for finding in given}.values()
    assert (back.routes, back.is_open, found.routes) == (("/a", "/b"), False, ("/c",))
    assert abs(found.since_unix_nano // 10**9 - (table.end - 70 * MINUTE)) <= 5 * MINUTE


def test_a_shift_of_one_standard_deviation_is_found_within_the_hour() -> None:
    given = watch(MovedDetector(MovedSettings()), past(flat), 60, shifted)
    minute, found = given[0]
    assert 15 <= minute <= 60
    assert found.reference == pytest.approx(0.5, abs=0.01)
    assert "the share of the context that answers use fell from 0.5 to" in found.words
    assert abs(found.since_unix_nano // 10**9 - NOW) <= 10 * MINUTE
    assert found.high is not None
    assert found.high < 0


def test_a_pool_is_found_sooner_than_a_route() -> None:
    routes = ("/a", "/b", "/c", "/d", "/e")
    alone = watch(MovedDetector(MovedSettings()), past(flat), 60, shifted)[0][0]
    minute, found = watch(MovedDetector(MovedSettings()), past(flat, routes), 60, shifted, routes)[
        0
    ]
    assert minute < alone
    assert found.routes == routes


def test_one_route_that_shifts_alone_is_named_alone() -> None:
    routes = ("/a", "/b", "/c", "/d", "/e")

    def level(_hour: int, route: str) -> float:
        return 0.2 if route == "/c" else 0.5

    given = watch(MovedDetector(MovedSettings()), past(flat, routes), 60, level, routes)
    assert {found.routes for _, found in given} == {("/c",)}


FOUR = ("/a", "/b", "/c", "/d")


@pytest.mark.parametrize(("second", "routes"), [(26, 3), (10**6, 2)])
def test_what_moves_later_on_another_route_has_a_finding_of_its_own(
    second: int, routes: int
) -> None:
    """Two routes move together, a third two hours later or never; the others stay quiet."""
    begin = (NOW - START) // HOUR

    def level(hour: int, route: str) -> float:
        is_moved = route in "/a/b" or (route == "/c" and hour >= begin + second - 24)
        return 0.3 if hour >= begin and is_moved else 0.5

    table = past(level, FOUR)
    found = watch(MovedDetector(MovedSettings()), table, 6 * 60, level, FOUR)
    onsets = {finding.finding_id: finding.since_unix_nano // 10**9 for _, finding in found}
    named = {route for _, finding in found for route in finding.routes}
    assert (len(onsets), len(named)) == (routes - 1, routes)
    hours = (0, second - 24)
    for since, hour in zip(sorted(onsets.values()), hours, strict=False):
        assert abs(since - (NOW + hour * HOUR)) <= 5 * MINUTE


def test_a_wave_over_the_day_is_no_move() -> None:
    def wave(hour: int, _route: str) -> float:
        return 0.5 + 0.15 * sin(2 * pi * hour / 24)

    assert not watch(MovedDetector(MovedSettings()), past(wave), 24 * 60, wave)


def test_another_mix_of_routes_is_no_move() -> None:
    def level(_hour: int, route: str) -> float:
        return {"/a": 0.8, "/b": 0.3}[route]

    table, watched = past(level, ("/a", "/b")), MovedDetector(MovedSettings())
    start = table.end
    for place in range(90):
        minute = start + place * MINUTE
        cells = {
            named(USE, "/a"): values(0.8, 0.2, 0.2),
            named(USE, "/b"): values(0.3, 2.5, 0.2),
        }
        add(table, minute, cells)
        assert not watched.step(table, minute + MINUTE, {})


def test_what_one_of_the_last_days_showed_too_is_no_move() -> None:
    # Yesterday was at the new level all day, as a Sunday may be like another Sunday only.
    def odd(hour: int, _route: str) -> float:
        return 0.3 if (hour - 24 * (DAYS - 1)) // 24 == 0 else 0.5

    assert watch(MovedDetector(MovedSettings()), past(flat), 60, shifted)
    assert not watch(MovedDetector(MovedSettings()), past(odd), 60, shifted)


def test_a_change_too_small_to_matter_is_no_move_however_sure() -> None:
    made = hours(lambda _: {named(USE): values(0.5, 80_000, 0.2)}, 24 * DAYS)
    made.advance(NOW)
    watched = MovedDetector(MovedSettings())
    for place in range(60):
        add(made, NOW + place * MINUTE, {named(USE): values(0.47, 1500, 0.2)})
        assert not watched.step(made, NOW + (place + 1) * MINUTE, {})


@pytest.mark.parametrize(
    ("signal", "level", "is_found"),
    [
        ("groundedness", 0.90, True),  # 5 % of the level, one standard deviation of the grades
        ("groundedness", 0.93, False),  # four tenths of one
        (USE, 0.90, False),
    ],
)
def test_grades_of_a_local_model_count_by_their_spread(
    signal: str, level: float, *, is_found: bool
) -> None:
    made = hours(lambda _: {named(signal): values(0.95, 80, 0.05)}, 24 * DAYS)
    made.advance(NOW)
    watched = MovedDetector(MovedSettings())
    found = []
    for place in range(120):
        add(made, NOW + place * MINUTE, {named(signal): values(level, 2, 0.05)})
        found += watched.step(made, NOW + (place + 1) * MINUTE, {})
    assert bool(found) is is_found


def test_an_hour_of_the_past_is_enough_and_less_is_not() -> None:
    young = SignalMinutes()
    for place in range(90):
        add(young, START + place * MINUTE, {named(USE): values(0.5, 10, 0.2)})
    assert watch(MovedDetector(MovedSettings()), young, 30, lambda *_: 0.2)
    new = SignalMinutes()
    for place in range(30):
        add(new, START + place * MINUTE, {named(USE): values(0.5, 10, 0.2)})
    assert not watch(MovedDetector(MovedSettings()), new, 25, lambda *_: 0.2)


def test_it_clears_when_the_level_is_back_for_as_long_as_is_set() -> None:
    watched, table = MovedDetector(MovedSettings(clear_minutes=30)), past(flat)
    watch(watched, table, 60, shifted)
    minute, cleared = watch(watched, table, 120, flat)[-1]
    assert not cleared.is_open
    assert cleared.words == "back: the share of the context that answers use 0.5"
    assert 30 <= minute <= 40


def test_it_clears_within_minutes_of_the_fix_and_stays_shut() -> None:
    watched, table = MovedDetector(MovedSettings()), past(flat)
    watch(watched, table, 60, shifted)
    given = watch(watched, table, 180, flat)
    assert given[-1][0] <= 20
    assert not given[-1][1].is_open, "windows that still hold the move open no other finding"


def test_hours_of_the_move_do_not_make_its_end_late_in_a_young_service() -> None:
    """What those hours vary by is not usual: as usual scatter it would ask for far more proof."""
    watched, table = MovedDetector(MovedSettings()), past(flat, days=1)
    watch(watched, table, 300, shifted)
    given = watch(watched, table, 180, flat)
    assert not given[-1][1].is_open
    assert given[-1][0] <= 20


def test_it_lasts_while_more_than_half_of_the_change_is_left() -> None:
    watched, table = MovedDetector(MovedSettings()), past(flat)
    found = watch(watched, table, 60, shifted)[-1][1]
    given = watch(watched, table, 180, lambda *_: 0.38)
    assert {finding.finding_id for _, finding in given} == {found.finding_id}
    assert given[-1][1].is_open
    assert not watch(watched, table, 180, lambda *_: 0.45)[-1][1].is_open


def test_after_a_day_it_is_the_new_level_and_stays_quiet() -> None:
    watched, table = MovedDetector(MovedSettings()), past(flat)
    given = watch(watched, table, 26 * 60, shifted)
    assert len({found.finding_id for _, found in given}) == 1
    minute, cleared = given[-1]
    assert 24 * 60 < minute < 26 * 60
    assert cleared.words.startswith("the new level since 2026-01-06 02:")
    assert not watch(watched, table, 3 * 24 * 60, shifted)


def test_a_young_service_gets_used_to_a_new_level_too() -> None:
    watched, table = MovedDetector(MovedSettings()), past(flat, days=1)
    given = watch(watched, table, 27 * 60, lambda *_: 0.2)
    assert not given[-1][1].is_open
    assert len({found.finding_id for _, found in given}) == 1
    assert not watch(watched, table, 2 * 24 * 60, lambda *_: 0.2)


def test_an_accepted_level_ends_it_and_keeps_it_away() -> None:
    watched, table = MovedDetector(MovedSettings()), past(flat)
    found = watch(watched, table, 60, shifted)[-1][1]
    accepted = {accepted_key(found): 0.3}
    end = table.end + 60 * MINUTE
    for minute in range(table.end, end, MINUTE):
        add(table, minute, {named(USE): values(0.3, 80 / 60, 0.2)})
        given = watched.step(table, minute + MINUTE, accepted)
    assert given == ()


def test_a_finding_of_an_earlier_life_goes_on() -> None:
    table = past(flat)
    before = watch(MovedDetector(MovedSettings()), table, 60, shifted)[-1][1]
    given = watch(MovedDetector(MovedSettings(), [before]), table, 30, shifted)
    assert {found.finding_id for _, found in given} == {before.finding_id}


@pytest.mark.parametrize(("mean", "is_moved"), [(0.9, False), (0.6, True)])
def test_a_few_zeros_more_among_many_ones_come_by_chance(mean: float, *, is_moved: bool) -> None:
    """Nearly every answer cites all; 5 of 48 that cite nothing lie 6 standard errors off."""
    cite = named("citation_coverage")

    def ones(mean: float, n: float) -> Cell:
        return n, n * mean, n * mean

    table, start = hours(lambda _: {cite: ones(0.988, 80)}, 24 * DAYS), START + 24 * DAYS * HOUR
    watched = MovedDetector(MovedSettings())
    found = []
    for place in range(150):
        late = place >= 120
        add(table, start + place * MINUTE, {cite: ones(mean if late else 0.988, 1.6)})
        found += watched.step(table, start + (place + 1) * MINUTE, {})
    assert bool(found) is is_moved


def test_a_move_in_a_part_of_the_answers_is_not_hidden_by_its_own_scatter() -> None:
    """Hours vary by more than their requests do; what a third of the answers lose is seen still."""

    def level(hour: int, _route: str) -> float:
        return 0.9 + 0.015 * (-1) ** hour

    table = hours(lambda hour: {named(USE): values(level(hour, "/a"), 80, 0.1)}, 30)
    start, watched = table.end, MovedDetector(MovedSettings())
    for place in range(180):
        minute = start + place * MINUTE
        mean = level((minute - START) // HOUR, "/a")
        # Of each hundred answers, thirty have a value of 0.3 from now on.
        fallen = place >= 120
        cell = values(0.7 * mean + 0.3 * 0.3, 1.6, 0.3) if fallen else values(mean, 1.6, 0.1)
        add(table, minute, {named(USE): cell})
        found = watched.step(table, minute + MINUTE, {})
    (one,) = found
    assert abs(one.since_unix_nano // 10**9 - start - 2 * HOUR) <= 5 * MINUTE


def test_another_version_of_a_scorer_has_no_past() -> None:
    table, watched = past(flat), MovedDetector(MovedSettings())
    start = table.end
    for place in range(60):
        minute = start + place * MINUTE
        add(table, minute, {named(USE, segment="r2"): values(0.2, 80 / 60, 0.2)})
        assert not watched.step(table, minute + MINUTE, {})


def test_a_few_very_long_requests_do_not_move_a_typical_one() -> None:
    rng = np.random.default_rng(3)

    def cell(n: int, slow: int) -> Cell:
        logs = np.log(rng.lognormal(1, 0.5, n))
        logs[:slow] = log(600)
        return float(n), float(logs.sum()), float((logs**2).sum())

    series = named("seconds_total")
    made = hours(lambda _: {series: cell(80, 0)}, 24 * DAYS)
    for place in range(120):
        add(made, NOW + (place - 120) * MINUTE, {series: cell(2, 0)})
    watched = MovedDetector(MovedSettings())
    for place in range(60):
        add(made, NOW + place * MINUTE, {series: cell(2, int(place == 7))})
        assert not watched.step(made, NOW + (place + 1) * MINUTE, {})


@pytest.mark.parametrize(("level", "held"), [(0.5, (USE,)), (0.45, ()), (0.3, ())])
def test_a_number_has_held_if_no_change_that_counts_is_left(
    level: float, held: tuple[str, ...]
) -> None:
    table, watched = past(flat), MovedDetector(MovedSettings())
    since = table.end
    watch(watched, table, 60, lambda _hour, _route: level)
    rate = Finding(
        finding_id="r",
        kind=FindingKind.BROKEN,
        service="shop",
        environment="live",
        routes=("/a",),
        signal="refusal:refused",
        layer=Layer.GENERATION,
        since_unix_nano=since * 10**9,
    )
    assert watched.held(table, rate, table.end) == held
    assert watched.held(table, replace(rate, routes=("/b",)), table.end) == ()
