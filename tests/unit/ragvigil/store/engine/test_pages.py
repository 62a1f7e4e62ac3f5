"""Pages have connections of their own: they wait for no write and no job, and leave when told."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from ragvigil.store.engine.batch import Batch, Rows
from ragvigil.store.engine.errors import Abandoned
from ragvigil.store.engine.kept import Kept
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.scope import QueryScope
from ragvigil.store.engine.store import Store
from tests.occupied import occupied
from tests.patience import PATIENCE_SECONDS


def frame(token: str) -> Batch:
    return Batch(rows={"ledger": Rows(("received",), [(time.time_ns(),)])}, token=token)


def seven(store: Store, priority: Priority = Priority.PAGE) -> int:
    rows: list[tuple[int]] = store._ask(
        "seven", lambda client: client.query("SELECT 7").result_rows, priority
    )
    return rows[0][0]


def test_a_page_is_read_although_writes_never_end(store: Store) -> None:
    """Two batches always wait: the thread that writes never runs out of work."""
    over, batches = threading.Event(), 0

    def write() -> None:
        nonlocal batches
        waiting = []
        while not over.is_set():
            waiting.append(store.submit(frame(f"b{batches}")))
            batches += 1
            if len(waiting) > 2:
                waiting.pop(0).result(PATIENCE_SECONDS)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        assert [seven(store) for _ in range(20)] == [7] * 20
    finally:
        over.set()
        writing.join()
    assert batches


def test_a_page_does_not_wait_for_a_job(store: Store) -> None:
    with occupied(store, Priority.TICK):
        assert seven(store) == 7


def test_what_a_request_reads_is_a_page_whatever_its_usual_priority(store: Store) -> None:
    with occupied(store, Priority.TICK), QueryScope().running():
        assert seven(store, Priority.TICK) == 7


def test_what_is_read_anew_for_pages_to_come_leaves_the_connections_of_pages(store: Store) -> None:
    with occupied(store, Priority.PAGE), QueryScope(Priority.SCAN).running():
        assert seven(store) == 7


def test_a_request_that_changes_something_reads_after_the_batches_before_it(store: Store) -> None:
    def counted() -> int:
        with QueryScope(None).running():
            rows = store.read("row_counts", priority=Priority.TICK)
        return {row["table"]: int(row["rows"]) for row in rows}["ledger"]

    with ThreadPoolExecutor(1) as thread:
        with occupied(store, Priority.TICK):
            store.submit(frame("before"))
            waiting = thread.submit(counted)
        assert waiting.result(PATIENCE_SECONDS) == 1


def test_only_queries_of_no_request_give_way(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(store._engine, "give_way", lambda: asked.append("gave way"))
    for priority in Priority:
        seven(store, priority)
    store.change("SELECT 7")
    assert len(asked) == len(Priority) + 1
    for reads_as in (Priority.PAGE, None):
        with QueryScope(reads_as).running():
            seven(store, Priority.TICK)
    store.write(frame("kept"))
    # A page may wait for what is kept, so it is read at once, whoever asks first.
    assert Kept(5.0).of("seven", lambda: seven(store)) == 7
    assert len(asked) == len(Priority) + 1


def test_a_job_sees_the_batches_that_were_queued_before_it(store: Store) -> None:
    with ThreadPoolExecutor(1) as thread:
        with occupied(store, Priority.TICK):
            written = store.submit(frame("before"))
            counted = thread.submit(store.read, "row_counts", priority=Priority.TICK)
            assert not written.done()
        rows = counted.result(PATIENCE_SECONDS)
    assert {row["table"]: row["rows"] for row in rows}["ledger"] == 1


def test_the_query_of_an_abandoned_request_never_runs(store: Store) -> None:
    request, runs = QueryScope(), []

    def read() -> None:
        store._ask("count", runs.append, Priority.PAGE)

    with (
        ThreadPoolExecutor(1) as thread,
        occupied(store, Priority.PAGE),
        request.running(),
    ):
        waiting = thread.submit(copy_context().run, read)
        while not request._queries:
            threading.Event().wait(0.01)
        request.abandon()
        with pytest.raises(Abandoned):
            waiting.result(PATIENCE_SECONDS)
    assert seven(store) == 7
    assert not runs


def test_an_abandoned_request_asks_nothing_more(store: Store) -> None:
    request, runs = QueryScope(), []
    request.abandon()
    with (
        occupied(store, Priority.PAGE),
        request.running(),
        pytest.raises(Abandoned),
    ):
        store._ask("count", runs.append, Priority.PAGE)
    assert not runs


def test_writes_of_a_request_are_never_abandoned(store: Store) -> None:
    request = QueryScope()
    request.abandon()
    with request.running():
        store.write(frame("kept"))
    assert seven(store) == 7
