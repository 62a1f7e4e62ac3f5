"""What the database refuses: bisected to the row, quarantined with its reason, and bounded."""

from __future__ import annotations

import dataclasses
import gc
import time
import weakref
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ragvigil.store.engine.batch import Batch, Row, Rows
from ragvigil.store.engine.engine import Engine
from ragvigil.store.engine.errors import QueryFailed, Unavailable, WriterStopped
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.engine.writer import Attempt, RefusedShare, Writer
from ragvigil.store.records import ledger
from ragvigil.store.records.span_rows import SPAN_COLUMNS
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.settings import StoreSettings
from tests.outcomes import outcome_of


def batch(first: int, last: int) -> Batch:
    rows = TraceRows({})
    for number in range(first, last):
        rows.add(outcome_of(number))
    return rows.take()


def spoiled(row: Row, column: str, value: object) -> Row:
    place = SPAN_COLUMNS.index(column)
    return (*row[:place], value, *row[place + 1 :])


def count(store: Store, sql: str) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = store._ask(
        "count", lambda client: client.query(sql).result_rows, Priority.SCAN
    )
    return found


@pytest.mark.parametrize(
    ("column", "value"), [("Duration", -1), ("SpanName", "\ud800"), ("SpanAttributes", 3)]
)
def test_one_bad_row_goes_to_quarantine_and_the_rest_is_stored(
    store: Store, column: str, value: object
) -> None:
    whole = batch(0, 50)
    spans = list(whole.rows["spans"].values)
    spans[37] = spoiled(spans[37], column, value)
    rows = {**whole.rows, "spans": Rows(SPAN_COLUMNS, spans)}
    written = store.write(dataclasses.replace(whole, rows=rows))
    assert written.rows["spans"] == 99
    (refused,) = written.quarantined
    assert (refused.table, refused.trace_id) == ("spans", f"{18:032x}")
    assert refused.reason
    assert count(store, "SELECT count() FROM spans FINAL") == [(99,)]
    ((table, trace_id, row),) = count(store, "SELECT table, trace_id, row FROM quarantine")
    assert (table, trace_id) == ("spans", f"{18:032x}")
    assert '"TraceId"' in str(row)


LONG = "a" * 2_000_001


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("SpanName", LONG),
        ("SpanAttributes", {"text": LONG}),
        ("SpanAttributes", {LONG: "text"}),
        ("Events.Name", [LONG]),
        ("Events.Attributes", [{"text": LONG}]),
    ],
)
def test_a_text_that_the_driver_has_no_memory_for_costs_its_own_row(
    store: Store, monkeypatch: pytest.MonkeyPatch, column: str, value: object
) -> None:
    """It would write past the memory that it did not get, and the process would end."""
    monkeypatch.setattr("ragvigil.store.engine.writer.MOST_CHARACTERS", 2_000_000)
    whole = batch(0, 50)
    spans = list(whole.rows["spans"].values)
    spans[37] = spoiled(spans[37], column, value)
    written = store.write(
        dataclasses.replace(whole, rows={**whole.rows, "spans": Rows(SPAN_COLUMNS, spans)})
    )
    (refused,) = written.quarantined
    assert written.rows["spans"] == 99
    assert refused.reason == "a text of 2000001 characters is too long"


def test_more_than_one_percent_refused_stops_the_writer(opened_store: Store, store: Store) -> None:
    """On a writer of its own: the store's would stay stopped."""
    whole = batch(0, 100)
    spans = [spoiled(row, "Duration", -1) for row in whole.rows["spans"].values]

    def write(client: object) -> None:
        writer = Writer(client, replica="", epoch=0, clock=lambda: 0.0)  # type: ignore[arg-type]
        rows = {"spans": Rows(SPAN_COLUMNS, spans)}
        writer.write(Attempt(dataclasses.replace(whole, rows=rows)))

    with pytest.raises(Exception, match="more than 1% of the last rows were refused"):
        opened_store._engine.queue_job(write, Priority.SCAN, writes=True)
    assert count(store, "SELECT count() FROM spans") == [(0,)]


def test_a_few_refusals_in_a_quiet_hour_stop_nothing() -> None:
    share = RefusedShare()
    share.add(30, 20)
    assert not share.is_too_high()
    share.add(1, 1)
    assert share.is_too_high()


def test_old_refusals_are_forgotten() -> None:
    share = RefusedShare()
    share.add(20, 20)
    for _ in range(12):
        share.add(1000, 0)
    assert (share.rows, share.refused) == (10_000, 0)


def test_an_empty_batch_is_written(store: Store) -> None:
    assert store.write(Batch(rows={"spans": Rows(SPAN_COLUMNS, [])}, token="empty")).rows == {
        "spans": 0
    }


def test_frames_are_summed_once_however_often_they_are_settled(store: Store) -> None:
    @dataclasses.dataclass(frozen=True)
    class Frame:
        seq: int
        spans: int
        stored: int
        duplicate: int = 0
        quarantined: int = 0
        lost: int = 0
        not_kept: int = 0
        received_unix_nano: int = 1_795_000_000 * 10**9

    store.write(ledger.batch([Frame(1, 5, 5), Frame(2, 4, 3, duplicate=1)]))
    store.write(ledger.batch([Frame(2, 4, 2, duplicate=1, quarantined=1)]))
    sums = ledger.sums(store)
    assert (sums["spans"], sums["stored"], sums["duplicate"], sums["quarantined"]) == (9, 7, 1, 1)


def test_reads_are_limited_and_cannot_change_anything(store: Store) -> None:
    for sql in (
        "INSERT INTO ledger (seq) VALUES (1)",
        "SELECT * FROM file('/etc/hostname', 'LineAsString')",
        "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
        "SET readonly = 0",
        "SELECT number FROM numbers(300000)",
        "SELECT no_such_column FROM spans",
    ):
        with pytest.raises(QueryFailed):
            store._ask(
                "bad",
                lambda client, sql=sql: (
                    client.command(sql) if sql[:3] == "SET" else client.query(sql).result_rows
                ),
                Priority.PAGE,
            )


def test_rows_that_are_stored_are_held_by_nothing(store: Store) -> None:
    class Attributes(dict[str, str]):
        """A dict that can be watched."""

    def write(client: object) -> weakref.ref[Attributes]:
        attributes = Attributes(key="value")
        row = spoiled(batch(0, 1).rows["spans"].values[0], "SpanAttributes", attributes)
        writer = Writer(client, replica="", epoch=0, clock=lambda: 0.0)  # type: ignore[arg-type]
        writer.write(Attempt(Batch(rows={"spans": Rows(SPAN_COLUMNS, [row])}, token="watched")))
        return weakref.ref(attributes)

    gc.disable()
    try:
        assert store._engine.queue_job(write, Priority.SCAN, writes=True)() is None
    finally:
        gc.enable()


def test_a_closed_store_says_so(store: Store) -> None:
    from ragvigil.store.engine.engine import Engine

    engine = Engine(store.settings, None, replica="", epoch=0, clock=lambda: 0.0)  # type: ignore[arg-type]
    engine._ends_at = 0.0
    with pytest.raises(Unavailable):
        engine.queue_write(Batch(rows={}, token="")).result()
    engine._ends_at, engine._stopped = None, "why"
    with pytest.raises(WriterStopped, match="why"):
        engine.queue_write(Batch(rows={}, token="")).result()


def test_an_answer_never_begins_with_what_a_failed_query_gave(store: Store) -> None:
    def ask(sql: str) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = store._ask(
            "rows", lambda client: client.query(sql).result_rows, Priority.PAGE
        )
        return rows

    for failing in (
        "SELECT number FROM numbers(300000)",
        "SELECT throwIf(number > 70000) FROM numbers(200000)",
    ):
        with pytest.raises(QueryFailed):
            ask(failing)
        assert ask("SELECT 7 AS only") == [(7,)]


def test_an_outage_is_one_line_and_its_end_another(tmp_path: Path) -> None:
    settings = StoreSettings(url="http://127.0.0.1:1/ragvigil")
    engine = Engine(settings, tmp_path, replica="a", epoch=1, clock=time.time)
    with capture_logs() as lines:
        for _ in range(3):
            engine._not_opened(Unavailable("no answer"))
        engine._succeeded()
        engine._succeeded()
        engine._not_opened(Unavailable("no answer"))
    events = [line["event"] for line in lines]
    assert events == ["store not reachable", "the store takes what waited", "store not reachable"]
