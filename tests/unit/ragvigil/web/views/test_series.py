"""A series is the naive mean of its scores, bin by bin, with the range of the days before."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragvigil.model.delta import Delta, Moved
from ragvigil.model.delta import Series as Name
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups, rubric_deltas
from ragvigil.store.scores.series_bins import SeriesFilter
from ragvigil.web.views.series import PointForm, SeriesForm, newest_segments, series_of
from ragvigil.web.views.series_points import (
    BINS,
    DAY,
    HOUR,
    MOST_BINS,
    Sums,
    bin_for,
    gathered,
    student,
    usual_ranges,
    widened,
)
from tests.outcomes import SECOND, outcome_of

FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}
MIDNIGHT = int(
    (datetime.now(UTC) - timedelta(days=1))
    .replace(hour=0, minute=0, second=0, microsecond=0)
    .timestamp()
)
NOON = MIDNIGHT + 12 * HOUR
ASK = SeriesFilter(route="/ask", rubrics=("citation_validity",))


def time_of(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def write(
    store: Store,
    scored: list[tuple[int, float | None]],
    *,
    route: str = "/ask",
    label: str = "quote_not_found",
    numbers_from: int = 0,
) -> None:
    rows = TraceRows(FACTS)
    for number, (seconds, value) in enumerate(scored, start=numbers_from):
        nanos = seconds * SECOND
        rows.add(outcome_of(number, value=value, route=route, label=label, time_unix_nano=nanos))
    rollups.recompute(store, store.write(rows.take()).minutes)


def of(store: Store, filter_: SeriesFilter, begin: int, end: int) -> list[SeriesForm]:
    return series_of(store, filter_, time_of(begin), time_of(end))


SCORED = st.lists(
    st.tuples(
        st.integers(-3 * HOUR, 3 * HOUR).map(lambda offset: MIDNIGHT + offset),
        st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    ),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(scored=SCORED, hours=st.sampled_from([0.25, 1, 6, 24, 24 * 7]))
def test_a_series_is_the_naive_mean_of_the_scores_of_each_bin(
    store: Store, scored: list[tuple[int, float | None]], hours: float
) -> None:
    for table in ("scores", "rollups"):
        store.change(f"TRUNCATE TABLE {table}")
    write(store, scored)
    end = MIDNIGHT + 3 * HOUR
    begin = int(end - hours * HOUR)
    series = of(store, ASK, begin, end)
    length = series[0].bin_seconds if series else bin_for(end - begin)
    first = begin - begin % bin_for(end - begin)
    naive: dict[int, list[float]] = defaultdict(list)
    for seconds, value in scored:
        if value is not None and first <= seconds - seconds % 60 < end:
            naive[seconds - seconds % length].append(value)
    points = series[0].points if series else []
    assert {int(point.start.timestamp()): point.n for point in points} == {
        start: len(values) for start, values in naive.items()
    }
    for point in points:
        assert point.mean == pytest.approx(fmean(naive[int(point.start.timestamp())]))
        assert 0 <= point.low <= point.mean <= point.high <= 1


def test_a_minute_that_is_counted_again_counts_once(store: Store) -> None:
    write(store, [(NOON, 1.0)])
    write(store, [(NOON + 5, 0.0)], numbers_from=1)
    (series,) = of(store, ASK, NOON - HOUR, NOON + HOUR)
    assert [(point.n, point.mean) for point in series.points] == [(2, 0.5)]


def test_the_empty_route_is_a_route_of_its_own(store: Store) -> None:
    write(store, [(NOON, 1.0)], route="/ask")
    write(store, [(NOON, 0.0), (NOON + 5, 0.0)], route="", numbers_from=10)
    write(store, [(NOON, 0.5)], route="/a b/../ü?x=1&y#z", numbers_from=20)

    def counted(route: str | None) -> list[int]:
        filter_ = SeriesFilter(route=route, rubrics=("citation_validity",))
        return [each.points[0].n for each in of(store, filter_, NOON - HOUR, NOON + HOUR)]

    assert counted("") == [2]
    assert counted("/ask") == [1]
    assert counted("/a b/../ü?x=1&y#z") == [1]
    assert counted("/nobody' OR 1=1") == []
    assert sorted(counted(None)) == [1, 1, 2]


def test_shares_of_labels_are_counted_over_all_scores(store: Store) -> None:
    write(store, [(NOON, 0.25), (NOON + 60, 1.0), (NOON + 120, 1.0), (NOON + 180, None)], label="")
    write(store, [(NOON + 240, 0.25)], label="quote_not_found", numbers_from=9)
    names = ("citation_validity:failed", "citation_validity:quote_not_found")
    filter_ = SeriesFilter(route="/ask", rubrics=names)
    failed, labelled = of(store, filter_, MIDNIGHT, MIDNIGHT + DAY)
    assert [failed.rubric, labelled.rubric] == list(names)
    assert failed.layer == labelled.layer
    assert sum(point.mean * point.n for point in failed.points) == pytest.approx(2)
    assert sum(point.mean * point.n for point in labelled.points) == pytest.approx(1)
    assert sum(point.n for point in labelled.points) == 4


def test_the_newest_comparison_until_the_end_stands_beside_a_series(store: Store) -> None:
    write(store, [(NOON, 1.0)])
    mine = of(store, ASK, NOON - HOUR, NOON + HOUR)[0]
    keys = (field.name for field in fields(Name) if field.compare)
    name = Name(**{key: getattr(mine, key) for key in keys})
    ticks = [
        Delta(series=name, tick=tick, window="6h", n=9, delta=delta, since=NOON, moved=Moved.FELL)
        for tick, delta in ((NOON + HOUR + 300, -0.2), (NOON + 2 * HOUR, -0.4))
    ]
    store.write(rubric_deltas.batch(ticks, NOON * SECOND))
    earlier, later = (of(store, ASK, NOON - HOUR, NOON + hours * HOUR)[0] for hours in (1, 3))
    assert [each.delta and each.delta.delta for each in (earlier, later)] == [-0.2, -0.4]
    assert earlier.onset == time_of(NOON)


def series(rubric: str, segment: str, *starts: int) -> SeriesForm:
    points = [
        PointForm(start=time_of(start), mean=1, low=1, high=1, n=1, usual_low=None, usual_high=None)
        for start in starts
    ]
    return SeriesForm(
        service="s",
        environment="",
        route="/a",
        rubric=rubric,
        layer=Layer.GENERATION,
        segment=segment,
        bin_seconds=60,
        points=points,
        delta=None,
    )


def test_scores_of_another_version_of_the_judge_are_not_drawn_into_one_line() -> None:
    old, new = series("g", "r1", 0, 60, 120), series("g", "r2", 180)
    assert newest_segments([old, new]) == [new]
    assert newest_segments([new, old]) == [new]


def test_bins_divide_each_other_and_the_day_so_that_no_edge_of_a_clock_falls_into_one() -> None:
    assert all(longer % shorter == 0 for shorter, longer in pairwise(BINS))
    assert all(DAY % length == 0 for length in BINS)
    assert all(days * DAY / bin_for(days * DAY) <= MOST_BINS for days in (0.01, 0.3, 1, 7, 30, 100))


@given(
    st.dictionaries(st.integers(0, 400).map(lambda at: at * 60), st.integers(1, 9), min_size=1),
    st.sampled_from(BINS),
)
def test_longer_bins_hold_the_same_scores(counts: dict[int, int], length: int) -> None:
    bins = {at: Sums(n=n, total=n / 2, squares=n / 4) for at, n in counts.items()}
    longer = gathered(bins, length)
    assert sum(longer.values(), Sums()).n == sum(counts.values())
    assert all(start % length == 0 for start in longer)


def test_bins_grow_where_few_answers_come() -> None:
    day = range(0, DAY, 900)
    assert widened({at: Sums(n=4) for at in day}, DAY, 900) == 1800
    assert widened({at: Sums(n=60) for at in day}, DAY, 900) == 900
    assert widened({at: Sums(n=1) for at in day if at % HOUR == 0}, DAY, 900) == 3600
    assert widened({}, DAY, 900) == 900


def test_the_usual_range_is_that_of_the_same_hours_of_the_days_before() -> None:
    # At night 0.9, by day 0.3: a bin at noon is compared with noons.
    def scores(mean: float) -> Sums:
        return Sums(n=40, total=40 * mean, squares=40 * mean)

    past = {
        NOON - day * DAY + hours * HOUR: scores(0.9 if hours > 5 else 0.3)
        for day in range(1, 8)
        for hours in range(12)
    }
    low, high = usual_ranges([NOON], past, 900, HOUR)[NOON]
    assert low < 0.3 < high < 0.9
    late = usual_ranges([NOON + 8 * HOUR], past, HOUR, HOUR)[NOON + 8 * HOUR]
    assert late[0] > 0.6
    # A quarter of an hour holds fewer scores than an hour, so its mean varies more.
    wide, narrow = usual_ranges([NOON], past, 900, HOUR), usual_ranges([NOON], past, HOUR, HOUR)
    assert wide[NOON][0] < narrow[NOON][0]


def test_two_days_are_no_usual_range_and_the_window_itself_is_none_of_its_past() -> None:
    one = Sums(n=9, total=9, squares=9)
    two_days = {NOON - day * DAY: one for day in (1, 2)}
    assert usual_ranges([NOON], two_days | {NOON: one, NOON - 8 * DAY: one}, HOUR, HOUR) == {}
    assert NOON in usual_ranges([NOON], two_days | {NOON - 7 * DAY: one}, HOUR, HOUR)


def test_days_that_differ_by_more_than_chance_widen_the_range() -> None:
    def days(*means: float) -> dict[int, Sums]:
        return {
            NOON + hour * HOUR - day * DAY: Sums(n=100, total=100 * mean, squares=100 * mean)
            for day, mean in enumerate(means, start=1)
            for hour in range(8)
        }

    starts = [NOON + hour * HOUR for hour in range(8)]
    calm = usual_ranges(starts, days(*[0.5] * 7), HOUR, HOUR)
    wild = usual_ranges(starts, days(0.2, 0.8, 0.3, 0.7, 0.5, 0.2, 0.8), HOUR, HOUR)
    assert calm[NOON][1] - calm[NOON][0] < wild[NOON][1] - wild[NOON][0]


def test_a_single_score_has_a_wide_interval_and_none_has_none() -> None:
    assert Sums().interval() is None
    low, high = Sums(n=1, total=1.0, squares=1.0).interval() or (1, 0)
    assert low < 0.1
    assert high == 1
    assert student(1e9) == pytest.approx(1.96, abs=0.001)


def test_the_read_has_as_many_queries_for_many_series_as_for_few(store: Store) -> None:
    for number in range(5):
        write(store, [(NOON, 0.5)], route=f"/{number}", numbers_from=10 * number)
    asked: list[str] = []
    read = store.read

    class Counting:
        kept = store.kept

        def read(self, name: str, *args: object, **more: object) -> object:
            asked.append(name)
            return read(name, *args, **more)  # type: ignore[arg-type]

    everything = series_of(Counting(), SeriesFilter(), time_of(NOON - HOUR), time_of(NOON + HOUR))  # type: ignore[arg-type]
    assert len(everything) >= 5
    assert asked.count("series_bins") == 2
    assert len(asked) <= 6
