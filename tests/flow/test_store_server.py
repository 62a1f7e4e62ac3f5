"""A ClickHouse server that is down, dies, is slow or read-only: no row lost, none doubled."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from ragvigil.store.engine import retention
from ragvigil.store.engine.batch import Batch, WriteResult
from ragvigil.store.engine.errors import Unavailable
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from ragvigil.store.settings import StoreSettings
from tests.clickhouse_http import Server
from tests.outcomes import NOW, outcome_of

pytestmark = pytest.mark.slow

FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "server") as server:
        yield server


def open_store(server: Server, folder: Path) -> Store:
    settings = StoreSettings(url=server.url, retry_seconds=0.5, timeout_seconds=20)
    return Store.open(settings, folder)


def batch(first: int, last: int) -> Batch:
    rows = TraceRows(FACTS)
    for number in range(first, last):
        rows.add(outcome_of(number))
    return rows.take()


def stored(store: Store) -> dict[str, int]:
    """Rows by table, read without FINAL: a doubled row would show."""
    counted = store.read("row_counts")
    return {str(row["table"]): int(row["rows"]) for row in counted}


def wait(*futures: Future[WriteResult]) -> None:
    for future in futures:
        future.result(60)


def test_batches_wait_for_a_server_that_is_down_at_start(server: Server, tmp_path: Path) -> None:
    server.stop()
    store = open_store(server, tmp_path)
    future = store.submit(batch(0, 20))
    with pytest.raises(Unavailable):
        store.read("row_counts")
    assert not future.done()
    server.start()
    wait(future)
    assert stored(store)["spans"] == 40
    assert stored(store)["traces"] == 20
    store.close()


def test_the_size_of_the_tables_of_a_server_is_shown(server: Server, tmp_path: Path) -> None:
    store = open_store(server, tmp_path)
    wait(store.submit(batch(0, 20)))
    retention.show_bytes(store)
    store.close()
    assert (REGISTRY.get_sample_value("ragvigil_store_bytes") or 0) > 0


@pytest.mark.parametrize("fault", ["die", "die_before"])
@pytest.mark.parametrize("table", ["spans", "scores", "traces"])
def test_a_server_that_dies_within_a_batch_neither_loses_nor_doubles_a_row(
    server: Server, tmp_path: Path, fault: str, table: str
) -> None:
    store = open_store(server, tmp_path)
    wait(store.submit(batch(0, 5)))
    server.fault(**{fault: table})
    futures = [store.submit(batch(5, 10)), store.submit(batch(10, 15))]
    server.wait_for_end()
    server.start()
    wait(*futures)
    counted = stored(store)
    assert counted["spans"] == 30
    assert counted["scores"] == 45
    assert counted["records"] == 15
    assert counted["traces"] == 15
    store.close()


def test_a_read_only_server_holds_writes_up_and_answers_reads(
    server: Server, tmp_path: Path
) -> None:
    store = open_store(server, tmp_path)
    wait(store.submit(batch(0, 3)))
    server.fault(readonly=1)
    future = store.submit(batch(3, 6))
    for _ in range(5):
        assert records.trace(store, f"{1:032x}") is not None
    assert not future.done()
    assert "readonly" in store.status().trouble
    server.fault()
    wait(future)
    assert stored(store)["traces"] == 6
    assert store.status().trouble == ""
    store.close()


def test_an_insert_that_times_out_and_was_stored_is_not_stored_twice(
    server: Server, tmp_path: Path
) -> None:
    settings = StoreSettings(url=server.url, retry_seconds=0.3, timeout_seconds=1.0)
    store = Store.open(settings, tmp_path)
    wait(store.submit(batch(0, 3)))
    server.fault(slow=1.5)
    future = store.submit(batch(3, 6))
    with pytest.raises(Unavailable):
        store.read("row_counts")
    server.fault()
    wait(future)
    assert stored(store)["spans"] == 12
    assert stored(store)["traces"] == 6
    store.close()


def test_the_same_batch_after_a_restart_of_ours_changes_nothing(
    server: Server, tmp_path: Path
) -> None:
    for _ in range(2):
        store = open_store(server, tmp_path)
        wait(store.submit(batch(0, 4)))
        rollups.recompute(store, [NOW // 10**9 // 60 * 60])
        assert stored(store)["spans"] == 8
        assert rollups.counts(store, NOW // 10**9 - 3600, NOW // 10**9 + 60).n.sum() == 4
        store.close()
