"""Roll-ups equal the scores they count, whatever was re-scored, and can be rebuilt."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from tests.outcomes import NOW, SECOND, outcome_of

START = NOW // SECOND // 3600 * 3600 - 7200
FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}
VALUES = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
SCORED = st.tuples(
    st.integers(0, 5),
    VALUES,
    st.integers(1, 3),
    st.sampled_from(["", "a", "b, a"]),
)


def write(store: Store, *outcomes: object) -> None:
    rows = TraceRows(FACTS)
    for outcome in outcomes:
        rows.add(outcome)  # type: ignore[arg-type]
    written = store.write(rows.take())
    rollups.recompute(store, written.minutes)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(scored=st.lists(SCORED, min_size=1, max_size=8))
def test_a_rollup_is_the_naive_count_of_the_newest_generations(
    store: Store, scored: list[tuple[int, float | None, int, str]]
) -> None:
    for table in ("scores", "rollups"):
        store.change(f"TRUNCATE TABLE {table}")
    newest: dict[int, tuple[int, float | None, str]] = {}
    said: dict[tuple[int, int], tuple[float | None, str]] = {}
    for number, first, spans, called in scored:
        # The same spans of a trace always score the same.
        value, label = said.setdefault((number, spans), (first, called))
        time = (START + number * 60) * SECOND
        write(store, outcome_of(number, value=value, spans=spans, label=label, time_unix_nano=time))
        if number not in newest or spans >= newest[number][0]:
            newest[number] = (spans, value, label)
    found = rollups.counts(store, START, START + 3600)
    names = [series.rubric for series in found.series]
    mine = found.index == names.index("citation_validity")
    known = [value for _, value, _ in newest.values() if value is not None]
    assert found.n[mine].sum() == len(known)
    assert np.isclose(found.total[mine].sum(), sum(known))
    assert np.isclose(found.squares[mine].sum(), sum(value * value for value in known))
    assert found.failed[mine].sum() == sum(value < 0.5 for value in known)
    assert found.not_applicable[mine].sum() == len(newest) - len(known)
    hidden = found.index == names.index("chunk_utilization")
    assert found.absent[hidden].sum() == len(newest)
    labels = {
        counts.label: counts.records.sum()
        for counts in found.labels
        if names[counts.index] == "citation_validity"
    }
    told = [part.strip() for _, _, label in newest.values() for part in label.split(",") if part]
    assert {label: labels.get(label, 0) for label in set(told)} == {
        label: told.count(label) for label in told
    }


def test_series_that_come_while_they_are_counted_are_no_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcome(route: str, number: int) -> object:
        return outcome_of(number, value=0.5, label="a", route=route, time_unix_nano=START * SECOND)

    write(store, outcome("/first", 1))
    arrays, numbers = store.arrays, count(2)

    def and_meanwhile(*asked: Any, **more: Any) -> Any:
        number = next(numbers)
        write(store, outcome(f"/before-{number}", number))
        return arrays(*asked, **more)

    monkeypatch.setattr(store, "arrays", and_meanwhile)
    found = rollups.counts(store, START, START + 3600)
    assert {series.route for series in found.series} == {"/first", "/before-2", "/before-3"}
    assert set(found.index.tolist()) == set(range(len(found.series)))
    assert {found.series[counts.index].route for counts in found.labels} == {"/first", "/before-2"}


def test_bins_sum_up_their_minutes(store: Store) -> None:
    for number in range(6):
        write(store, outcome_of(number, value=0.5, time_unix_nano=(START + number * 60) * SECOND))
    found = rollups.counts(store, START, START + 3600, bin_seconds=300, with_labels=False)
    place = [series.rubric for series in found.series].index("citation_validity")
    mine = found.index == place
    assert dict(zip(found.start[mine].tolist(), found.n[mine].tolist(), strict=True)) == {
        START: 5.0,
        START + 300: 1.0,
    }


def test_a_rebuild_gives_the_same_counts(store: Store) -> None:
    write(store, *(outcome_of(n, time_unix_nano=(START + n * 700) * SECOND) for n in range(8)))
    window = {"first": START, "end": START + 7200}
    before = store.read("rollup_means", window)
    store.change("TRUNCATE TABLE rollups")
    assert rollups.rebuild(store) == 2
    assert store.read("rollup_means", window) == before == store.read("raw_means", window)


def test_the_histogram_has_21_bins_that_sum_to_n(store: Store) -> None:
    write(store, *(outcome_of(n, value=n / 20) for n in range(21)))
    rows = store._ask(
        "histogram",
        lambda c: (
            c.query(
                "SELECT sumForEach(histogram) FROM rollups FINAL WHERE rubric = 'citation_validity'"
            ).result_rows
        ),
        1,  # type: ignore[arg-type]
    )
    assert rows == [([1] * 21,)]


def test_what_changed_since_a_version_is_known(store: Store) -> None:
    assert rollups.changed(store, 0) is None
    write(store, outcome_of(1))
    first = rollups.changed(store, 0)
    assert first is not None
    assert rollups.changed(store, first.version) is None
    rollups.recompute(store, [first.first], version=first.version + 10)
    again = rollups.changed(store, first.version)
    assert again is not None
    assert (again.first, again.last, again.version) == (first.first, first.last, first.version + 10)


def test_a_version_in_the_past_still_replaces(store: Store) -> None:
    write(store, outcome_of(1))
    minute = NOW // SECOND // 60 * 60
    rollups.recompute(store, [minute], version=10**18)
    store.change("TRUNCATE TABLE scores")
    rollups.recompute(store, [minute], version=5)
    assert rollups.counts(store, minute, minute + 60).n.sum() == 0


def test_minutes_that_were_left_undone_are_one_row_however_many(store: Store) -> None:
    rows = TraceRows(FACTS)
    for number in range(5):
        rows.add(outcome_of(number, time_unix_nano=(START + number * 60) * SECOND))
    undone = sorted(store.write(rows.take()).minutes)
    assert len(undone) == 5
    assert rollups.minutes_not_counted(store) == undone
    assert rollups.minutes_received(store, START) == undone
    # A query returns at most `query_rows` rows: an import of half a year has more minutes.
    assert len(store.read("score_minutes_not_counted")) == 1
    assert len(store.read("score_minutes_received", {"received": START})) == 1
