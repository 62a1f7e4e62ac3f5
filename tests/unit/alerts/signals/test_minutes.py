"""The table of minutes and hours equals the naive sums, in whatever order its parts come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alerts.signals.minutes import HOUR, HOURS, MINUTE, SignalMinutes
from tests.unit.alerts.watched import START, add, named, rate, sums, table

ONE, OTHER = named("error"), named("error", "/b")
WRITTEN = st.lists(
    st.tuples(st.integers(0, 170), st.sampled_from([ONE, OTHER]), st.integers(0, 5)), max_size=30
)


@given(WRITTEN)
def test_what_is_put_again_replaces_what_was_there(
    written: list[tuple[int, object, int]],
) -> None:
    made = SignalMinutes()
    made.advance(START + 171 * MINUTE)
    newest: dict[int, tuple[object, int]] = {}
    for place, series, failed in written:
        minute = START + place * MINUTE
        cells = {(series, minute): rate(failed, 5)}
        made.put_minutes([sums(cells)], [minute])  # type: ignore[arg-type]
        newest[place] = (series, failed)
    for series in {one for one, _ in newest.values()}:
        column = made.series.index(series)  # type: ignore[arg-type]
        mine = {place: failed for place, (one, failed) in newest.items() if one == series}
        n, failed, _ = made.last(made.end, 171)[:, column]
        assert (n, failed) == (5 * len(mine), sum(mine.values()))
        by_hour = made.by_hour(START + 3 * HOUR, 3)[1, :, column]
        assert by_hour.tolist() == [
            sum(failed for place, failed in mine.items() if place // 60 == hour)
            for hour in range(3)
        ]


def test_minutes_that_went_by_are_forgotten_and_hours_stay() -> None:
    made = table(lambda _: {ONE: rate(1, 2)}, 60)
    made.advance(START + 300 * MINUTE)
    assert made.last(made.end, 240).sum() == 0
    assert made.by_hour(START + HOUR, 1)[0, 0, 0] == 120


def test_a_series_of_which_no_hour_is_left_is_forgotten() -> None:
    made = table(lambda _: {ONE: rate(1, 2), OTHER: rate(0, 1)}, 2)
    add(made, START + (HOURS - 1) * HOUR, {OTHER: rate(0, 1)})
    assert set(made.series) == {ONE, OTHER}
    add(made, START + HOURS * HOUR, {OTHER: rate(0, 1)})
    assert made.series == [OTHER]
    assert made.last(made.end, 1)[:, 0].tolist() == [1, 0, 0]


def test_a_whole_hour_that_is_read_again_replaces_its_minutes() -> None:
    made = table(lambda _: {ONE: rate(1, 2)}, 60)
    made.advance(START + 5 * HOUR)
    assert made.first_minute > START
    made.put_hours([sums({(ONE, START): rate(7, 9)})], [START])
    assert made.by_hour(START + HOUR, 1)[:, 0, 0].tolist() == [9, 7, 7]


def test_a_minute_without_anything_any_more_is_emptied() -> None:
    made = table(lambda _: {ONE: rate(1, 2)}, 3)
    made.put_minutes([], [START + MINUTE])
    assert made.last(made.end, 3)[0, 0] == 4
    assert made.by_hour(START + HOUR, 1)[0, 0, 0] == 4


def test_only_minutes_that_differ_count_as_changed() -> None:
    made = table(lambda _: {ONE: rate(1, 2)}, 3)
    same, other = START, START + MINUTE
    given = sums({(ONE, same): rate(1, 2), (ONE, other): rate(2, 2)})
    assert made.put_minutes([given], [same, other]) == [other]
