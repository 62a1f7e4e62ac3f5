"""The table of minutes and hours equals the naive sums, in whatever order its parts come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alerts.signals.minutes import HOUR, HOURS, MINUTE, SignalMinutes
from tests.unit.alerts.minute_tables import START, add, named, rate, sums, table

ONE, OTHER = named("error"), named("error", "/b")
WRITTEN = st.lists(
    st.tuples(st.integers(0, 170), st.sampled_from([ONE, OTHER]), st.integers(0, 5)), max_size=30
)


@given(WRITTEN)
def test_what_is_put_again_replaces_what_was_there(
    written: list[tuple[int, object, int]],
) -> None:
    minutes = SignalMinutes()
    minutes.advance(START + 171 * MINUTE)
    newest: dict[int, tuple[object, int]] = {}
    for place, series, failed in written:
        minute = START + place * MINUTE
        cells = {(series, minute): rate(failed, 5)}
        minutes.put_minutes([sums(cells)], [minute])  # type: ignore[arg-type]
        newest[place] = (series, failed)
    for series in {each for each, _ in newest.values()}:
        column = minutes.series.index(series)  # type: ignore[arg-type]
        failures = {place: failed for place, (each, failed) in newest.items() if each == series}
        n, failed, _ = minutes.last(minutes.end, 171)[:, column]
        assert (n, failed) == (5 * len(failures), sum(failures.values()))
        by_hour = minutes.by_hour(START + 3 * HOUR, 3)[1, :, column]
        assert by_hour.tolist() == [
            sum(failed for place, failed in failures.items() if place // 60 == hour)
            for hour in range(3)
        ]


def test_minutes_that_went_by_are_forgotten_and_hours_stay() -> None:
    minutes = table(lambda _: {ONE: rate(1, 2)}, 60)
    minutes.advance(START + 300 * MINUTE)
    assert minutes.last(minutes.end, 240).sum() == 0
    assert minutes.by_hour(START + HOUR, 1)[0, 0, 0] == 120


def test_a_series_of_which_no_hour_is_left_is_forgotten() -> None:
    minutes = table(lambda _: {ONE: rate(1, 2), OTHER: rate(0, 1)}, 2)
    add(minutes, START + (HOURS - 1) * HOUR, {OTHER: rate(0, 1)})
    assert set(minutes.series) == {ONE, OTHER}
    add(minutes, START + HOURS * HOUR, {OTHER: rate(0, 1)})
    assert minutes.series == [OTHER]
    assert minutes.last(minutes.end, 1)[:, 0].tolist() == [1, 0, 0]


def test_a_whole_hour_that_is_read_again_replaces_its_minutes() -> None:
    minutes = table(lambda _: {ONE: rate(1, 2)}, 60)
    minutes.advance(START + 5 * HOUR)
    assert minutes.first_minute > START
    minutes.put_hours([sums({(ONE, START): rate(7, 9)})], [START])
    assert minutes.by_hour(START + HOUR, 1)[:, 0, 0].tolist() == [9, 7, 7]


def test_a_minute_without_anything_any_more_is_emptied() -> None:
    minutes = table(lambda _: {ONE: rate(1, 2)}, 3)
    minutes.put_minutes([], [START + MINUTE])
    assert minutes.last(minutes.end, 3)[0, 0] == 4
    assert minutes.by_hour(START + HOUR, 1)[0, 0, 0] == 4


def test_only_minutes_that_differ_count_as_changed() -> None:
    minutes = table(lambda _: {ONE: rate(1, 2)}, 3)
    same, other = START, START + MINUTE
    given = sums({(ONE, same): rate(1, 2), (ONE, other): rate(2, 2)})
    assert minutes.put_minutes([given], [same, other]) == [other]
