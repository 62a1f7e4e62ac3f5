"""Two analysts over one server: one leads, and what a former leader writes is refused there.

The server is the embedded engine behind ClickHouse's HTTP interface. `strict` makes its table of
leases refuse a number that it has, as a KeeperMap does: there is no Keeper here.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.store.engine.errors import Fenced
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet.fence import OF_LEADER, Fence
from ragvigil.store.fleet.lease import Lease
from ragvigil.store.fleet.lease_table import LeaseTable
from ragvigil.store.settings import StoreSettings
from ragvigil.store.watch import notices
from tests.clickhouse_http import Server

pytestmark = pytest.mark.slow

SHORT = 3.0
"""Seconds that a lease lasts here."""


@pytest.fixture(scope="module", params=[False, True], ids=["table", "strict"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server")) as server:
        if request.param:
            server.fault(strict=1)
        yield server


def settings(server: Server) -> StoreSettings:
    return StoreSettings(url=server.url, retry_seconds=0.5, timeout_seconds=20)


def opened(server: Server, folder: Path, lease: Lease) -> Store:
    store = Store.open(settings(server), folder, replica="a", epoch=1)
    store.sharing.guard(Fence(lease))
    while not store.status().is_ready:
        time.sleep(0.05)
    return store


def notice(number: int) -> Notice:
    return Notice(
        notice_id=f"{number}",
        kind=ChangeKind.PROMPT,
        service="shop",
        environment="",
        route="/ask",
        since_unix_nano=time.time_ns(),
        noticed_unix_nano=time.time_ns(),
        requests=20,
    )


def test_only_the_leader_writes(server: Server, tmp_path: Path) -> None:
    first = Lease(LeaseTable(settings(server)), "a", seconds=SHORT)
    assert first.hold()
    store = opened(server, tmp_path, first)
    assert first.hold(), "longer than the lease lasts, the migrations ran"
    batch = notices.batch([notice(1)], time.time_ns(), replica="a")
    store.write(batch)
    store.write(batch)
    # Its own clock stands still, as that of a process that was stopped between look and insert.
    first._monotonic = lambda: 0.0
    time.sleep(SHORT)
    with pytest.raises(Fenced):
        store.write(notices.batch([notice(2)], time.time_ns(), replica="a"))
    assert [each.notice_id for each in notices.find(store)] == ["1"]
    (row,) = [row for row in store.read("row_counts") if row["table"] == "notices"]
    assert row["rows"] == 1, "a token is known to guarded inserts too"
    assert store.status().trouble == ""
    store.close()


def test_a_higher_epoch_fences_before_the_end(server: Server, tmp_path: Path) -> None:
    first = Lease(LeaseTable(settings(server)), "b", seconds=60.0)
    time.sleep(SHORT)
    while not first.hold():
        time.sleep(0.5)
    store = opened(server, tmp_path, first)
    assert Lease(LeaseTable(settings(server)), "b", seconds=SHORT).hold(), "of the same name"
    with pytest.raises(Fenced):
        store.write(notices.batch([notice(3)], time.time_ns(), replica="b"))
    assert not first.hold()
    assert first.is_lost
    store.close()


def test_every_table_of_the_leader_exists(store: Store) -> None:
    there = {str(row["name"]) for row in store.read("tables_own")}
    assert there >= OF_LEADER
