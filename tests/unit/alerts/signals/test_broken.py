"""Broken rates: from how few requests, on which routes, and when they are over."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from alerts.signals.broken import BrokenDetector
from alerts.signals.catalogue import BY_SIGNAL, POOL, accepted_key
from alerts.signals.minutes import MINUTE, SignalMinutes
from alerts.signals.settings import BrokenSettings
from ragvigil.model.delta import Series
from ragvigil.model.finding import Finding
from tests.unit.alerts.minute_tables import START, Cell, add, hours, named, rate

CITED = "citation_validity:failed"
AMONG = BY_SIGNAL[CITED].among
DAY = 24
NOW = START + (DAY + 2) * 3600


def usual(share: float = 0.02, routes: tuple[str, ...] = ("/a",)) -> SignalMinutes:
    """A table with a day of 80 requests an hour and route behind it."""
    return hours(lambda _: {named(CITED, route): rate(80 * share, 80) for route in routes}, DAY)


def watch(
    watched: BrokenDetector,
    table: SignalMinutes,
    minutes: int,
    cells: Mapping[Series, Cell],
    *,
    first: int = 0,
) -> list[tuple[int, Finding]]:
    """Every finding with the minute of its step, while the cells repeat each minute."""
    given = []
    for place in range(first, first + minutes):
        minute = NOW + place * MINUTE
        add(table, minute, cells)
        given += [(place + 1, finding) for finding in watched.step(table, [minute + MINUTE], {})]
    return given


def test_seven_of_seven_on_one_route_are_enough() -> None:
    timeline = watch(
        BrokenDetector(BrokenSettings()), usual(), 10, {named(CITED): rate(1.33, 1.33)}
    )
    minute, found = timeline[0]
    assert minute <= 6
    assert found.n <= 8
    assert found.words.endswith("answers cite what is not there (100 % [58, 100], ceiling 20 %)")
    assert found.low is not None
    assert found.low > 0
    assert abs(found.since_unix_nano // 10**9 - NOW) <= MINUTE


def test_the_words_name_how_many_of_how_many() -> None:
    found = watch(BrokenDetector(BrokenSettings()), usual(), 5, {named(CITED): rate(7.6, 8.2)})[-1][
        1
    ]
    assert found.words == "38 of 41 answers cite what is not there (93 % [81, 97], ceiling 20 %)"


def test_without_a_past_the_ceiling_itself_must_be_disproven() -> None:
    given = watch(
        BrokenDetector(BrokenSettings()), SignalMinutes(), 30, {named(CITED): rate(1.33, 1.33)}
    )
    minute, _ = given[0]
    assert 6 < minute <= 15


def test_a_rate_over_what_is_usual_and_under_the_ceiling_is_quiet() -> None:
    assert not watch(BrokenDetector(BrokenSettings()), usual(), 60, {named(CITED): rate(0.6, 4.0)})


def test_a_ceiling_of_one_turns_a_signal_off() -> None:
    off = BrokenDetector(BrokenSettings(invalid_citations=1.0))
    assert not watch(off, usual(), 20, {named(CITED): rate(4.0, 4.0)})


def test_one_person_who_asks_again_and_again_breaks_nothing() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    assert not watch(watched, table, 10, {named(CITED): rate(0.0, 1.33)})
    assert not watch(watched, table, 2, {named(CITED): rate(7.0, 8.0)}, first=10)
    assert not watch(watched, table, 30, {named(CITED): rate(0.0, 1.33)}, first=12)


def test_a_route_whose_failures_come_in_clumps_needs_more_of_them() -> None:
    def clumps(hour: int) -> Mapping[Series, Cell]:
        return {named(CITED): rate(8.0 if hour % 4 == 0 else 0.0, 80)}

    cells = {named(CITED): rate(1.0, 1.33)}
    steady = watch(BrokenDetector(BrokenSettings()), usual(8 / 4 / 80), 60, cells)[0][0]
    clumped = watch(BrokenDetector(BrokenSettings()), hours(clumps, DAY), 60, cells)[0][0]
    assert steady + 5 < clumped < 40


def test_ten_of_thirty_two_are_no_evidence_for_more_than_a_quarter() -> None:
    a_quarter = BrokenDetector(BrokenSettings(invalid_citations=0.25))
    assert not watch(a_quarter, usual(), 15, {named(CITED): rate(10 / 15, 32 / 15)})


def days(share: float, count: int = 4 * DAY) -> SignalMinutes:
    """A table with days of 80 requests an hour behind it that end two hours before NOW."""
    start = NOW - (count + 2) * 3600
    return hours(lambda _: {named(CITED): rate(80 * share, 80)}, count, start=start)


def test_a_route_that_has_lived_over_the_ceiling_for_days_has_its_own() -> None:
    settled = BrokenDetector(BrokenSettings(invalid_citations=0.1))
    assert not watch(settled, days(0.12), 90, {named(CITED): rate(0.5, 4.0)})


def test_over_its_own_ceiling_such_a_route_is_broken() -> None:
    settled = BrokenDetector(BrokenSettings(invalid_citations=0.1))
    given = watch(settled, days(0.12), 60, {named(CITED): rate(2.0, 4.0)})
    assert given[0][0] <= 15
    assert "ceiling 17 %" in given[0][1].words


def test_what_fails_from_the_first_minute_on_is_no_past_of_its_own() -> None:
    watched, table = BrokenDetector(BrokenSettings()), SignalMinutes()
    timeline = watch(watched, table, 120, {named(CITED): rate(1.2, 1.33)})
    assert timeline[0][0] <= 20
    assert {finding.finding_id for _, finding in timeline} == {timeline[0][1].finding_id}
    assert timeline[-1][1].is_open
    assert "ceiling 20 %" in timeline[-1][1].words


def test_a_slight_excess_on_a_small_route_is_proven_by_a_longer_window() -> None:
    given = watch(BrokenDetector(BrokenSettings()), usual(0.01), 120, {named(CITED): rate(0.4, 1)})
    assert 5 < given[0][0] <= 60


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_fault_that_comes_again_began_after_the_last_one_had_cleared(
    *, is_restarted: bool
) -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    broken, healthy = {named(CITED): rate(4.0, 4.0)}, {named(CITED): rate(0.0, 4.0)}
    watch(watched, table, 60, broken)
    _, cleared = watch(watched, table, 40, healthy, first=60)[-1]
    assert not cleared.is_open
    if is_restarted:
        watched = BrokenDetector(BrokenSettings(), [cleared])
    _, again = watch(watched, table, 20, broken, first=100)[-1]
    assert again.since_unix_nano // 10**9 == NOW + 100 * MINUTE


def test_the_numbers_are_those_since_the_onset() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    watch(watched, table, 30, {named(CITED): rate(2.0, 2.0)})
    last = watch(watched, table, 5, {named(CITED): rate(0.8, 2.0)}, first=30)[-1][1]
    assert (last.n, last.words[:8]) == (70, "64 of 70")


def test_good_answers_before_a_silence_are_no_part_of_what_fails_wholly_after_it() -> None:
    """Also where many fail before the first look, as after a start."""
    table = usual()
    for at in (*range(5), *range(50, 90)):
        add(table, NOW + at * MINUTE, {named(CITED): rate(float(at >= 50), 1.0)})
    (found,) = BrokenDetector(BrokenSettings()).step(table, [NOW + 90 * MINUTE], {})
    assert found.since_unix_nano // 10**9 == NOW + 50 * MINUTE


@pytest.mark.parametrize(("minutes", "is_open"), [(3, True), (40, False)])
def test_a_rate_is_over_when_enough_answers_come_that_it_is_not_given_to(
    minutes: int, *, is_open: bool
) -> None:
    """Invented citations on a route that cites nothing."""
    watched = BrokenDetector(BrokenSettings())
    table = hours(lambda _: {named(signal): rate(0, 80) for signal in AMONG}, DAY)
    silent = {named(signal): rate(0.0, 1.0) for signal in AMONG}
    watch(watched, table, 30, silent | {named(CITED): rate(0.9, 0.9)})
    watch(watched, table, minutes, silent, first=30)
    assert bool(watched.open) == is_open


def test_two_answers_without_a_citation_prove_no_end_after_twelve_with_one() -> None:
    """A slow route where nine in ten cite: that two do not is nothing seldom."""
    watched = BrokenDetector(BrokenSettings())
    table = hours(lambda _: {named(signal): rate(0, 10) for signal in AMONG}, DAY)
    answer = {named(signal): rate(0.0, 1.0) for signal in AMONG}
    for place in range(14):
        cited = {named(CITED): rate(1.0, 1.0)} if place < 12 else {}
        watch(watched, table, 1, answer | cited, first=6 * place)
        given = watch(watched, table, 5, {}, first=6 * place + 1)
    assert given[-1][1].is_open


def test_a_rate_lasts_while_the_answers_that_could_have_it_are_not_seen() -> None:
    watched = BrokenDetector(BrokenSettings())
    table = hours(lambda _: {named(signal): rate(0, 80) for signal in AMONG}, DAY)
    silent = {named(signal): rate(0.0, 1.0) for signal in AMONG}
    watch(watched, table, 30, silent | {named(CITED): rate(0.9, 0.9)})
    watch(watched, table, 40, {named(AMONG[0]): rate(0.0, 1.0)}, first=30)
    assert watched.open


def test_one_good_route_of_two_does_not_clear_the_other() -> None:
    routes = ("/a", "/b")
    watched, table = BrokenDetector(BrokenSettings()), usual(routes=routes)
    watch(watched, table, 20, {named(CITED, route): rate(2.0, 2.0) for route in routes})
    half = {named(CITED, "/a"): rate(0.0, 6.0), named(CITED, "/b"): rate(1.0, 2.0)}
    assert watch(watched, table, 40, half, first=20)[-1][1].is_open


def test_what_is_over_by_now_opens_nothing_after_it_cleared() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    watch(watched, table, 10, {named(CITED): rate(4.0, 4.0)})
    timeline = watch(watched, table, 110, {named(CITED): rate(0.1, 4.0)}, first=10)
    assert len({finding.finding_id for _, finding in timeline}) == 1


def test_fewer_requests_than_the_fewest_prove_nothing() -> None:
    patient = BrokenDetector(BrokenSettings(fewest_requests=100))
    timeline = watch(patient, usual(), 60, {named(CITED): rate(4.0, 4.0)})
    assert timeline[0][0] == 25


def test_a_rate_must_stand_for_as_many_ticks_as_are_set() -> None:
    cells = {named(CITED): rate(4.0, 4.0)}
    at_once = watch(BrokenDetector(BrokenSettings()), usual(), 20, cells)[0][0]
    later = watch(BrokenDetector(BrokenSettings(stand_minutes=4)), usual(), 20, cells)[0][0]
    assert later == at_once + 3


def test_routes_that_break_together_are_one_finding() -> None:
    routes = ("/a", "/b", "/c", "/d", "/e")
    broken = {named(CITED, route): rate(0.8, 1.33) for route in routes[:3]}
    fine = {named(CITED, route): rate(0.0, 1.33) for route in routes[3:]}
    timeline = watch(BrokenDetector(BrokenSettings()), usual(routes=routes), 20, broken | fine)
    assert {finding.finding_id for _, finding in timeline} == {timeline[0][1].finding_id}
    assert timeline[0][1].routes == ("/a", "/b", "/c")
    assert timeline[0][0] <= 10


def test_two_of_five_routes_stay_one_finding_until_both_are_back() -> None:
    routes = ("/a", "/b", "/c", "/d", "/e")
    watched, table = BrokenDetector(BrokenSettings()), usual(routes=routes)
    both = {named(CITED, route): rate(0.8 * (route in "/a/b"), 1.33) for route in routes}
    route = {named(CITED, route): rate(1.33 * (route == "/a"), 1.33) for route in routes}
    timeline = [*watch(watched, table, 60, both), *watch(watched, table, 60, route, first=60)]
    assert {found.finding_id for _, found in timeline} == {timeline[0][1].finding_id}
    assert timeline[0][1].routes == ("/a", "/b")
    assert timeline[-1][1].is_open


@pytest.mark.parametrize(("pause", "findings"), [(5, 1), (120, 2)])
def test_another_route_joins_a_finding_of_several_or_has_its_own(pause: int, findings: int) -> None:
    """What begins with it is part of it; what begins hours later is another thing."""
    routes = ("/a", "/b", "/c", "/d", "/e")
    watched, table = BrokenDetector(BrokenSettings()), usual(routes=routes)

    def broken(names: str) -> dict[Series, Cell]:
        return {named(CITED, route): rate(0.8 * (route in names), 1.33) for route in routes}

    timeline = watch(watched, table, pause, broken("/a/b"))
    timeline += watch(watched, table, 60, broken("/a/b/e"), first=pause)
    still = {finding.finding_id: finding for finding in watched.open}
    assert len(still) == findings
    assert {route for finding in still.values() for route in finding.routes} == {"/a", "/b", "/e"}
    assert len({finding.finding_id for _, finding in timeline}) == findings


def test_a_finding_of_several_routes_that_cleared_hides_no_other_route() -> None:
    """A slow one breaks shortly before the others are back."""
    watched, table = BrokenDetector(BrokenSettings()), usual(routes=("/a", "/b", "/c"))
    given = []
    for place in range(110):
        others = {named(CITED, route): rate(float(place < 60), 1.0) for route in ("/a", "/b")}
        slow = {named(CITED, "/c"): rate(float(place >= 45), 1.0)} if place % 6 == 0 else {}
        given += watch(watched, table, 1, others | slow, first=place)
    cleared, found = {finding.routes: finding for _, finding in given}.values()
    assert (cleared.routes, cleared.is_open, found.routes) == (("/a", "/b"), False, ("/c",))
    assert abs(found.since_unix_nano // 10**9 - (NOW + 48 * MINUTE)) <= 6 * MINUTE


def test_one_route_that_breaks_alone_is_named_alone() -> None:
    routes = ("/a", "/b", "/c", "/d", "/e")
    cells = {named(CITED, route): rate(1.33 * (route == "/b"), 1.33) for route in routes}
    timeline = watch(BrokenDetector(BrokenSettings()), usual(routes=routes), 30, cells)
    assert {finding.routes for _, finding in timeline} == {("/b",)}
    assert len({finding.finding_id for _, finding in timeline}) == 1


def test_routes_too_small_to_speak_alone_speak_together() -> None:
    routes = tuple(f"/{place}" for place in range(40))
    table = hours(lambda _: {named(CITED, route): rate(0.04, 2) for route in routes}, DAY)
    cells = {named(CITED, route): rate(0.03, 0.033) for route in routes}
    timeline = watch(BrokenDetector(BrokenSettings()), table, 30, cells)
    assert timeline[0][0] <= 10
    assert len(timeline[0][1].routes) == 40


@pytest.mark.parametrize("clear_minutes", [5, 10, 40])
def test_it_clears_when_it_was_under_the_ceiling_for_as_long_as_is_set(clear_minutes: int) -> None:
    watched, table = BrokenDetector(BrokenSettings(clear_minutes=clear_minutes)), usual()
    watch(watched, table, 10, {named(CITED): rate(4.0, 4.0)})
    timeline = watch(watched, table, 80, {named(CITED): rate(0.0, 4.0)}, first=10)
    minute, cleared = timeline[-1]
    assert not cleared.is_open
    assert "back under the ceiling since 02:10 UTC" in cleared.words
    assert clear_minutes <= minute - 10 <= clear_minutes + 2


def test_healthy_answers_after_a_fix_do_not_lower_the_rate_that_is_to_end() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual(0.0)
    broken = {named(CITED): rate(0.6, 2.0)}
    healthy = {named(CITED): rate(0.0, 1.0)}
    _, before = watch(watched, table, 60, broken)[-1]
    after = watch(watched, table, 30, healthy, first=60)
    lasting = [found for _, found in after if found.is_open]
    assert {found.value for found in lasting} == {before.value}
    assert {found.n for found in lasting} == {before.n}
    cleared = next(minute for minute, found in after if not found.is_open)
    assert cleared <= 60 + 20


def test_a_route_that_falls_silent_keeps_its_finding_for_a_day() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    watch(watched, table, 10, {named(CITED): rate(4.0, 4.0)})
    last = NOW + 10 * MINUTE
    for hour in range(1, 30):
        table.advance(last + hour * 3600)
        found = watched.step(table, [last + hour * 3600], {})
        if not found[0].is_open:
            break
    assert 24 <= hour <= 27
    assert "no requests any more" in found[0].words


def test_an_accepted_level_is_the_new_ceiling() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    (found,) = {
        finding.finding_id: finding
        for _, finding in watch(watched, table, 30, {named(CITED): rate(2.0, 4.0)})
    }.values()
    accepted = {accepted_key(found): 0.5}
    minute = NOW + 30 * MINUTE
    add(table, minute, {named(CITED): rate(2.0, 4.0)})
    (cleared,) = watched.step(table, [minute + MINUTE], accepted)
    assert not cleared.is_open
    for place in range(31, 60):
        add(table, NOW + place * MINUTE, {named(CITED): rate(2.0, 4.0)})
        assert not watched.step(table, [NOW + place * MINUTE + MINUTE], accepted)


def test_what_goes_beyond_an_accepted_level_breaks_once_and_since_its_beginning() -> None:
    watched, table, given = BrokenDetector(BrokenSettings()), usual(0.3), []
    accepted = {("shop", "live", CITED, "/a"): 0.3}
    for place in range(60):
        add(table, NOW + place * MINUTE, {named(CITED): rate(4.0, 4.0)})
        given += watched.step(table, [NOW + (place + 1) * MINUTE], accepted)
    assert {(finding.finding_id, finding.is_open) for finding in given} == {
        (given[0].finding_id, True)
    }
    assert abs(given[-1].since_unix_nano // 10**9 - NOW) <= 2 * MINUTE


def test_one_good_answer_in_a_night_is_no_end() -> None:
    watched, table = BrokenDetector(BrokenSettings()), usual()
    watch(watched, table, 60, {named(CITED): rate(2.4, 4.0)})
    given = []
    for place in range(60, 420):
        cells = {named(CITED): rate(0.0, 1.0)} if place == 350 else {}
        given += watch(watched, table, 1, cells, first=place)
    assert all(finding.is_open for _, finding in given)


def test_the_level_of_many_routes_is_accepted_together() -> None:
    watched, routes = BrokenDetector(BrokenSettings()), ("/a", "/b", "/c")
    table = usual(routes=routes)
    cells = {named(CITED, route): rate(1.0, 2.0) for route in routes}
    found = watch(watched, table, 20, cells)[-1][1]
    assert accepted_key(found)[3] == POOL
    add(table, NOW + 20 * MINUTE, cells)
    now_open = watched.step(table, [NOW + 21 * MINUTE], {accepted_key(found): 0.5})
    assert [finding.is_open for finding in now_open] == [False]


def test_a_finding_of_an_earlier_life_goes_on_and_is_not_opened_twice() -> None:
    routes = ("/a", "/b", "/c")
    table, cells = usual(routes=routes), {named(CITED, route): rate(2.0, 2.0) for route in routes}
    before = watch(BrokenDetector(BrokenSettings()), table, 10, cells)[-1][1]
    again = BrokenDetector(BrokenSettings(), [before])
    timeline = watch(again, table, 5, cells, first=10)
    assert {finding.finding_id for _, finding in timeline} == {before.finding_id}
    assert timeline[-1][1].seen_unix_nano > before.seen_unix_nano
