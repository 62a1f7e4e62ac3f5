"""Feedback, deploys, deltas and retention in the embedded store."""

from __future__ import annotations

import pytest

from ragvigil.model.delta import BaselineKind, Delta, Moved, Series
from ragvigil.model.deploy import Deploy
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.store.engine import retention
from ragvigil.store.engine.store import Store
from ragvigil.store.records import feedback, records
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import deploys
from tests.outcomes import NOW, SECOND, outcome_of

DAY = 86_400


def told(**names: str) -> FeedbackEvent:
    return FeedbackEvent(
        feedback_id=str(sorted(names.items())),
        kind="thumbs",
        value=0.0,
        time_unix_nano=NOW,
        **names,
    )


def write(store: Store, *numbers: int, received: int = NOW) -> None:
    rows = TraceRows({})
    for number in numbers:
        rows.add(outcome_of(number, received=received))
    store.write(rows.take())


@pytest.mark.parametrize(
    "names",
    [
        {"trace_id": f"{1:032X}"},
        {"span_id": "0000000100000000"},
        {"session_id": "session-1"},
        {"response_id": "resp-0001"},
    ],
)
def test_feedback_finds_its_answer_by_any_id_before_and_after_it_is_stored(
    store: Store, names: dict[str, str]
) -> None:
    said = told(**names)
    store.write(feedback.batch([said], NOW))
    assert not feedback.matches(store, said)
    write(store, 1)
    assert feedback.matches(store, said)
    found = records.trace(store, f"{1:032x}")
    assert found is not None
    assert [event["kind"] for event in found["records"][0]["feedback"]] == ["thumbs"]


def test_feedback_of_another_answer_is_not_shown(store: Store) -> None:
    write(store, 1, 2)
    store.write(feedback.batch([told(trace_id=f"{2:032x}"), told(response_id="resp-0002")], NOW))
    found = records.trace(store, f"{1:032x}")
    assert found is not None
    assert found["records"][0]["feedback"] == []


def test_the_same_feedback_again_is_one(store: Store) -> None:
    write(store, 1)
    for received in (NOW, NOW + 1):
        store.write(feedback.batch([told(trace_id=f"{1:032x}")], received))
    found = records.trace(store, f"{1:032x}")
    assert found is not None
    assert len(found["records"][0]["feedback"]) == 1


def test_deploys_come_newest_first(store: Store) -> None:
    marks = [
        Deploy(deploy_id=str(n), service="a", time_unix_nano=NOW + n * SECOND, kind="prompt")
        for n in range(3)
    ]
    store.write(deploys.batch(marks, NOW))
    assert deploys.find(store, service="a") == marks[::-1]
    assert deploys.find(store, service="b") == []
    assert len(deploys.find(store, since=NOW // SECOND + 2, limit=9)) == 1


def test_a_delta_comes_back_as_it_was_and_a_later_computation_replaces_it(store: Store) -> None:
    tick = NOW // SECOND // 300 * 300
    series = Series(service="s", environment="", route="/a", rubric="refusal:refused", segment="r1")
    first = Delta(series=series, tick=tick, window="6h", n=3, mean=0.5, closed=False)
    second = Delta(
        series=series,
        tick=tick,
        window="6h",
        n=4,
        mean=0.25,
        delta=-0.25,
        low=-0.4,
        high=-0.1,
        coverage=1.0,
        baseline_kind=BaselineKind.FLAT,
        moved=Moved.FELL,
        since=tick - 3600,
        sustained_drop=True,
    )
    store.write(rubric_deltas.batch([first], NOW))
    store.write(rubric_deltas.batch([second], NOW + 1))
    asked = rubric_deltas.DeltaFilter(rubric="refusal:refused")
    assert rubric_deltas.latest(store, asked, tick) == rubric_deltas.since(store, asked) == [second]
    assert rubric_deltas.latest(store, rubric_deltas.DeltaFilter(window="24h"), tick) == []


def test_days_of_the_settings_become_the_tables_time_to_live(store: Store) -> None:
    assert retention.apply_days(store) == []
    original = store.settings
    try:
        store.settings = original.model_copy(update={"spans_days": 3})
        assert retention.apply_days(store) == [
            "ALTER TABLE spans MODIFY TTL toDate(Received) + INTERVAL 3 DAY",
            "ALTER TABLE dirty_minutes MODIFY TTL toDate(written) + INTERVAL 3 DAY",
            "ALTER TABLE late_spans MODIFY TTL toDate(written) + INTERVAL 3 DAY",
            "ALTER TABLE members MODIFY TTL toDate(beat) + INTERVAL 3 DAY",
            "ALTER TABLE questions MODIFY TTL toDate(written) + INTERVAL 3 DAY",
        ]
        assert retention.apply_days(store) == []
    finally:
        store.settings = original
        retention.apply_days(store)


def test_a_store_that_is_too_large_drops_its_oldest_spans_first(store: Store) -> None:
    for age in (0, 1, 2):
        write(store, age, received=NOW - age * DAY * SECOND)
    original = store.settings
    try:
        store.settings = original.model_copy(update={"max_bytes": 1})
        dropped = retention.enforce_max_bytes(store)
    finally:
        store.settings = original
    assert next(iter(dropped)) == "spans"
    assert dropped["spans"] == 4
    assert dropped["scores"] == 6
    kept = store.read("row_counts")
    assert {row["table"]: row["rows"] for row in kept}["spans"] == 2
    assert records.trace(store, f"{0:032x}") is not None


def test_a_store_within_its_size_keeps_everything(store: Store) -> None:
    write(store, 1)
    assert retention.enforce_max_bytes(store) == {}
