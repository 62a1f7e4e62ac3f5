"""Lost traffic: what is lost for sure, and what is only a quiet hour, day or mix."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sin

import numpy as np
import pytest

from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.settings import BrokenSettings
from alerts.signals.traffic import TrafficDetector
from alerts.signals.traffic_counts import Counts
from alerts.signals.turning import BACK
from ragvigil.model.delta import Series
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.signal import ERROR, TRAFFIC
from tests.unit.alerts.minute_tables import START, Cell, add, named, rate, sums

DAY = 24 * HOUR
NOW = START + 8 * DAY + 10 * HOUR
Cells = dict[Series, Cell]
Volume = Callable[[int], float]
"""Requests an hour at a time, in seconds."""


def by_day(time: int, busy: float = 1.0) -> float:
    """A hundred an hour on average, thirty at night, most at noon; `busy` scales the day's part."""
    return 30 + busy * 70 * (1 + sin(2 * pi * (time % DAY / DAY - 0.25)))


def steady(_: int) -> float:
    return 60


def weekly(time: int) -> float:
    """People work on five days of the week."""
    return by_day(time, 0.3 if time // DAY % 7 in (2, 3) else 1.0)


def drawn(volumes: dict[str, Volume], start: int, minutes: int, seed: int = 1) -> list[Cells]:
    """The requests of each minute by route."""
    rng = np.random.default_rng(seed)
    return [
        {
            named(ERROR, route): rate(0, float(rng.poisson(volume(start + place * MINUTE) / 60)))
            for route, volume in volumes.items()
        }
        for place in range(minutes)
    ]


def past(volumes: dict[str, Volume], until: int, days: int = 8) -> SignalMinutes:
    """A table with these days before `until`, a full hour."""
    table = SignalMinutes()
    table.advance(until)
    rng = np.random.default_rng(0)
    hours = range(until - days * DAY, table.first_minute, HOUR)
    cells = {
        (named(ERROR, route), hour): rate(0, float(rng.poisson(volume(hour + HOUR // 2))))
        for route, volume in volumes.items()
        for hour in hours
    }
    table.put_hours([sums(cells)], hours)
    first = table.first_minute
    for place, minute in enumerate(drawn(volumes, first, (until - first) // MINUTE)):
        table.put_minutes(
            [sums({(series, first + place * MINUTE): cell for series, cell in minute.items()})],
            [first + place * MINUTE],
        )
    return table


def watch(
    detector: TrafficDetector,
    table: SignalMinutes,
    start: int,
    minutes: list[Cells],
    every: int = 1,
) -> list[tuple[int, Finding]]:
    """Every finding with the minutes since `start`, of a step every so many minutes."""
    given = []
    for place, cells in enumerate(minutes, start=1):
        end = start + place * MINUTE
        add(table, end - MINUTE, cells)
        if place % every == 0:
            given += [(place, finding) for finding in detector.step(table, end, {})]
    return given


def lose(share: float, at: int, volume: Volume = by_day) -> Volume:
    """Loses a share of the requests from a time on."""
    return lambda time: volume(time) * (1 - share if time >= at else 1)


def run(
    before: dict[str, Volume],
    after: dict[str, Volume],
    minutes: int,
    at: int = NOW,
    days: int = 8,
) -> list[tuple[int, Finding]]:
    """An hour as before, then `minutes` as after."""
    table = past(before, at - HOUR, days)
    detector = TrafficDetector(BrokenSettings())
    watch(detector, table, at - HOUR, drawn(before, at - HOUR, 60, seed=2))
    return watch(detector, table, at, drawn(after, at, minutes, seed=3))


ROUTES = dict.fromkeys(("/a", "/b", "/c", "/d"), by_day)


def test_sixty_percent_lost_on_all_routes_is_a_ticket_within_fifteen_minutes() -> None:
    given = run(ROUTES, dict.fromkeys(ROUTES, lose(0.6, NOW)), 60)
    minute, found = given[0]
    assert minute <= 15
    assert {finding.kind for _, finding in given} == {FindingKind.LIMIT}
    assert len({finding.finding_id for _, finding in given}) == 1
    assert abs(found.since_unix_nano // 10**9 - NOW) <= 5 * MINUTE
    assert "% of the requests are missing: " in found.words


def test_ninety_percent_lost_pages() -> None:
    given = run(ROUTES, dict.fromkeys(ROUTES, lose(0.95, NOW)), 60)
    assert given[0][0] <= 15
    assert given[-1][1].kind is FindingKind.BROKEN
    assert len({finding.finding_id for _, finding in given}) == 1


BUSY = {**ROUTES, "/b": lambda time: 2 * by_day(time)}


@pytest.mark.parametrize(("share", "kind"), [(0.6, FindingKind.LIMIT), (0.95, FindingKind.BROKEN)])
@pytest.mark.parametrize("lost", [tuple(ROUTES), ("/b",)], ids=["all routes", "one"])
def test_four_days_are_past_enough(share: float, kind: FindingKind, lost: tuple[str, ...]) -> None:
    gone = {route: lose(share, NOW, BUSY[route]) for route in lost}
    given = run(BUSY, {**BUSY, **gone}, 40, days=4)
    # Sixty percent of one route's three hundred an hour are proven later than of all.
    assert given[0][0] <= (15 if len(lost) > 1 or share > 0.9 else 25)
    assert given[-1][1].kind is kind
    assert given[-1][1].routes == lost
    assert len({finding.finding_id for _, finding in given}) == 1


def test_one_route_that_is_lost_is_named() -> None:
    given = run(ROUTES, {**ROUTES, "/b": lose(0.95, NOW)}, 60)
    assert given[0][0] <= 30
    assert given[-1][1].routes == ("/b",)
    assert given[-1][1].kind is FindingKind.BROKEN


@pytest.mark.parametrize("first", [("/b",), ("/b", "/d")])
def test_a_loss_that_spreads_to_all_routes_goes_on_as_one(first: tuple[str, ...]) -> None:
    spread = dict.fromkeys(ROUTES, lose(0.9, NOW + 20 * MINUTE))
    given = run(ROUTES, {**spread, **dict.fromkeys(first, lose(1.0, NOW))}, 80)
    opened = {finding.finding_id for _, finding in given}
    (still,) = [finding for minute, finding in given if minute == 80 and finding.is_open]
    assert set(still.routes) > set(first)
    assert still.finding_id == given[0][1].finding_id
    assert len(opened) <= len(first)


def test_what_is_lost_hours_later_is_another_loss() -> None:
    later = dict.fromkeys(ROUTES, lose(0.9, NOW + 120 * MINUTE))
    given = run(ROUTES, {**later, "/b": lose(1.0, NOW)}, 200)
    assert len({finding.finding_id for _, finding in given if finding.is_open}) == 2


def test_the_only_route_of_a_service_is_one_finding() -> None:
    given = run({"/a": lambda _: 400.0}, {"/a": lambda _: 100.0}, 30)
    assert {finding.routes for _, finding in given} == {("/a",)}
    assert len({finding.finding_id for _, finding in given}) == 1


def test_a_loss_that_is_over_is_not_opened_again_by_what_it_reported() -> None:
    """Windows of an hour still hold it."""
    at = {minute: NOW + minute * MINUTE for minute in (40, 90, 150)}

    def twice(time: int) -> float:
        is_lost = time < at[40] or at[90] <= time < at[150]
        return 3 * by_day(time) * (0.05 if is_lost else 1)

    busy = dict.fromkeys(ROUTES, lambda time: 3 * by_day(time))
    given = run(busy, {**busy, "/b": twice}, 240)
    ends = [(minute, found.finding_id) for minute, found in given if not found.is_open]
    assert [50 <= ends[0][0] <= 60, 160 <= ends[1][0] <= 170] == [True, True]
    (second,) = {found.since_unix_nano for minute, found in given if minute > ends[0][0]}
    assert abs(second // 10**9 - at[90]) <= 2 * MINUTE
    assert len(ends) == len(dict(ends)) == 2


def test_requests_that_moved_to_another_route_page_nobody() -> None:
    moved = {**ROUTES, "/a": lambda time: 2 * by_day(time), "/b": lose(1.0, NOW)}
    given = run(ROUTES, moved, 60)
    assert {finding.kind for _, finding in given} == {FindingKind.LIMIT}


ELSEWHERE = "; other routes of the service get them"


def test_where_requests_are_that_moved_to_a_known_route_is_said() -> None:
    moved = {**ROUTES, "/a": lambda time: 2 * by_day(time), "/b": lose(1.0, NOW)}
    assert run(ROUTES, moved, 75)[-1][1].words.endswith(ELSEWHERE)


def in_working_hours(time: int) -> float:
    return 200.0 if 8 <= time % DAY / HOUR < 18 else 0.0


WITH_WORK = {"/a": in_working_hours, "/b": by_day}
BIG = {"/big": lambda time: 8 * by_day(time), "/small": lambda _: 40.0}


@pytest.mark.parametrize(
    ("before", "after", "minutes"),
    [
        (ROUTES, dict.fromkeys(ROUTES, lose(0.95, NOW)), 200),
        (BIG, {**BIG, "/small": lambda _: 0.0}, 200),
        (WITH_WORK, {**WITH_WORK, "/a": lose(0.95, NOW, in_working_hours)}, 9 * 60),
    ],
    ids=["all routes for hours", "a small route of a large service", "until night"],
)
def test_what_no_other_route_gets_is_never_said_to_be_there(
    before: dict[str, Volume], after: dict[str, Volume], minutes: int
) -> None:
    given = run(before, after, minutes)
    assert given[-1][1].is_open
    assert given[-1][1].kind is FindingKind.BROKEN
    assert not [minute for minute, finding in given if finding.words.endswith(ELSEWHERE)]


def test_what_rises_each_morning_after_a_night_without_requests_is_no_rise() -> None:
    def office(time: int) -> float:
        return 300.0 if 8 <= time % DAY / HOUR < 18 else 1.5

    morning = NOW - 2 * HOUR
    empty = drawn({"/a": lambda _: 0.0}, morning - 2 * HOUR, 120)
    for minutes in (empty + drawn({"/a": office}, morning, 30), empty + empty[:30]):
        table = past({"/a": office}, morning - 2 * HOUR)
        watch(TrafficDetector(BrokenSettings()), table, morning - 2 * HOUR, minutes)
        assert Counts(table, morning + 30 * MINUTE, 30, 3).rise([0]) < BACK


def test_a_loss_that_becomes_total_after_hours_pages() -> None:
    fallen = lose(1.0, NOW + 4 * HOUR, lose(0.6, NOW))
    given = run(ROUTES, {**dict.fromkeys(ROUTES, fallen), "/z": lambda _: 6.0}, 320)
    kinds = {minute: finding.kind for minute, finding in given}
    assert (kinds[240], kinds[320]) == (FindingKind.LIMIT, FindingKind.BROKEN)


def test_a_route_that_was_renamed_is_a_ticket_that_says_so_and_ends() -> None:
    """Nothing ever comes again that could end it: after days it is the new level."""
    table, detector = past({"/a": steady, "/v1": steady}, NOW), TrafficDetector(BrokenSettings())
    minutes = drawn({"/a": steady, "/v2": steady}, NOW, 6 * DAY // MINUTE)
    given = watch(detector, table, NOW, minutes, every=20)
    assert {(found.kind, found.routes) for _, found in given} == {(FindingKind.LIMIT, ("/v1",))}
    assert given[0][1].words.endswith(ELSEWHERE)
    minute, last = given[-1]
    assert (minute <= 4 * DAY // MINUTE + 20, last.is_open) == (True, False)
    assert last.words.startswith("the new level since ")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ROUTES, ROUTES),
        (ROUTES, {**ROUTES, "/a": lambda time: 3 * by_day(time)}),
        (ROUTES, dict.fromkeys(ROUTES, lose(0.3, NOW))),
        (dict.fromkeys(ROUTES, lambda _: 3.0), dict.fromkeys(ROUTES, lambda _: 1.0)),
    ],
    ids=["as usual", "one route thrice", "a third less", "few requests"],
)
def test_what_is_no_loss_is_quiet(before: dict[str, Volume], after: dict[str, Volume]) -> None:
    assert not run(before, after, 240)


def test_a_day_that_is_quiet_from_its_morning_on_is_no_loss() -> None:
    morning = NOW - 10 * HOUR
    holiday = dict.fromkeys(ROUTES, lambda time: by_day(time, 0.3 if time >= morning else 1.0))
    day = drawn(holiday, morning, 20 * 60)
    assert not watch(TrafficDetector(BrokenSettings()), past(holiday, morning), morning, day, 5)


SATURDAY = next(
    day for day in range(START // DAY * DAY + 8 * DAY, START + 16 * DAY, DAY) if day // DAY % 7 == 2
)


def quiet_saturdays(time: int) -> float:
    """450 requests an hour, 150 on two days of the week."""
    return 150 if time // DAY % 7 in (2, 3) else 450


def test_a_loss_on_a_saturday_pages_and_ends_with_it() -> None:
    at = SATURDAY + 13 * HOUR
    end = at + 2 * HOUR

    def volume(time: int) -> float:
        return quiet_saturdays(time) * (0.1 if at <= time < end else 1.0)

    given = run({"/a": quiet_saturdays}, {"/a": volume}, 180, at=at)
    pages = [minute for minute, finding in given if finding.kind is FindingKind.BROKEN]
    cleared = [minute for minute, finding in given if finding.cleared_unix_nano]
    assert pages[0] <= 20
    assert 120 < cleared[0] <= 140


def test_a_lull_of_ten_minutes_on_a_saturday_is_no_loss() -> None:
    """25 requests are usual; of what came a week ago chance could have taken ten."""
    at = SATURDAY + 13 * HOUR
    table = past({"/a": quiet_saturdays}, at - HOUR)
    detector = TrafficDetector(BrokenSettings())
    normal = [{named(ERROR, "/a"): rate(0, 2.5)} for _ in range(60)]
    lull = [{named(ERROR, "/a"): rate(0, float(n))} for n in (1, 0, 1, 0, 1, 0, 1, 0, 1, 0)]
    assert not watch(detector, table, at - HOUR, [*normal, *lull, *normal[:2]])


@pytest.mark.slow
def test_nights_and_weekends_are_no_loss() -> None:
    volumes = dict.fromkeys(ROUTES, weekly)
    table, first = past(volumes, START + 8 * DAY, days=4), START + 8 * DAY
    week = drawn(volumes, first, 7 * 24 * 60)
    assert not watch(TrafficDetector(BrokenSettings()), table, first, week, 10)


def test_nothing_received_at_all_is_not_judged() -> None:
    assert not run(ROUTES, dict.fromkeys(ROUTES, lambda _: 0.0), 60)


def test_a_window_in_which_nobody_watched_is_not_judged() -> None:
    table = past(ROUTES, NOW - HOUR)
    table.advance(NOW)
    given = watch(TrafficDetector(BrokenSettings()), table, NOW, drawn(ROUTES, NOW, 90))
    assert not given


def test_three_days_must_be_known() -> None:
    table = past(ROUTES, NOW - HOUR, days=2)
    detector = TrafficDetector(BrokenSettings())
    assert not watch(
        detector, table, NOW - HOUR, drawn(dict.fromkeys(ROUTES, lambda _: 2.0), NOW, 90)
    )


def test_it_clears_soon_after_the_requests_are_back() -> None:
    table = past(ROUTES, NOW - HOUR)
    detector = TrafficDetector(BrokenSettings())
    watch(detector, table, NOW - HOUR, drawn(ROUTES, NOW - HOUR, 60, seed=2))
    lost = dict.fromkeys(ROUTES, lose(0.7, NOW))
    watch(detector, table, NOW, drawn(lost, NOW, 60, seed=3))
    back = NOW + 60 * MINUTE
    given = watch(detector, table, back, drawn(ROUTES, back, 60, seed=4))
    assert not given[-1][1].is_open
    assert 10 <= given[-1][0] <= 20


@pytest.mark.parametrize(("hour", "down"), [(10, 50), (10, 90), (2, 6 * 60), (12, 10 * 60)])
def test_a_restart_after_a_while_makes_no_page_of_a_ticket_and_ends_none(
    hour: int, down: int
) -> None:
    """What came meanwhile was not received, and another time of day has other numbers."""
    at = NOW + (hour - 10) * HOUR
    routes = dict.fromkeys(ROUTES, lambda time: 4 * by_day(time))
    lost = {**routes, "/b": lose(0.7, at, routes["/b"])}
    table, detector = past(routes, at - HOUR), TrafficDetector(BrokenSettings())
    watch(detector, table, at - HOUR, drawn(routes, at - HOUR, 60, seed=2))
    *_, (_, before) = watch(detector, table, at, drawn(lost, at, 60, seed=3))
    table.advance(at + (60 + down) * MINUTE)
    again = TrafficDetector(BrokenSettings(), [before])
    given = watch(again, table, table.end, drawn(lost, table.end, 60, seed=4))
    assert {(found.finding_id, found.kind, found.is_open) for _, found in given} == {
        (before.finding_id, FindingKind.LIMIT, True)
    }


@pytest.mark.parametrize("down", [30, 120])
def test_requests_that_come_after_hours_without_any_are_no_other_routes(down: int) -> None:
    """After a restart all routes rise: nothing was received before."""
    table, detector = past(ROUTES, NOW - HOUR), TrafficDetector(BrokenSettings())
    watch(detector, table, NOW - HOUR, drawn(ROUTES, NOW - HOUR, 60, seed=2))
    lost = {**ROUTES, "/b": lose(0.7, NOW)}
    *_, (_, before) = watch(detector, table, NOW, drawn(lost, NOW, 60, seed=3))
    table.advance(NOW + (60 + down) * MINUTE)
    again = TrafficDetector(BrokenSettings(), [before])
    given = watch(again, table, table.end, drawn(lost, table.end, 90, seed=4))
    assert not [minute for minute, finding in given if finding.words.endswith(ELSEWHERE)]


def test_a_finding_of_an_earlier_life_goes_on() -> None:
    table = past(ROUTES, NOW - HOUR)
    detector = TrafficDetector(BrokenSettings())
    watch(detector, table, NOW - HOUR, drawn(ROUTES, NOW - HOUR, 60, seed=2))
    lost = dict.fromkeys(ROUTES, lose(0.7, NOW))
    (_, before), *_ = reversed(watch(detector, table, NOW, drawn(lost, NOW, 40, seed=3)))
    again = TrafficDetector(BrokenSettings(), [before])
    later = NOW + 40 * MINUTE
    given = watch(again, table, later, drawn(lost, later, 30, seed=4))
    assert {finding.finding_id for _, finding in given} == {before.finding_id}
    assert given[-1][1].is_open


def test_a_level_that_was_accepted_is_no_leave_for_a_total_loss() -> None:
    table, detector = past(ROUTES, NOW - HOUR), TrafficDetector(BrokenSettings())
    watch(detector, table, NOW - HOUR, drawn(ROUTES, NOW - HOUR, 60, seed=2))
    level = 0.5 * sum(table.by_hour(NOW, 1)[0][0])
    given = []
    for place, cells in enumerate(drawn({**ROUTES, "/a": lose(1, NOW)}, NOW, 60, seed=3), 1):
        add(table, NOW + (place - 1) * MINUTE, cells)
        accepted = {("shop", "live", TRAFFIC, "/a"): level}
        given += detector.step(table, NOW + place * MINUTE, accepted)
    assert {(finding.finding_id, finding.is_open) for finding in given} == {
        (given[0].finding_id, True)
    }
