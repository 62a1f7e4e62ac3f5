"""Two scorers and an edge without local models, each with a store of its own over one server.

The server is the embedded engine behind ClickHouse's HTTP interface; of the model only the vectors
are made up.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ragvigil.app.demo.child_daemon import running
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet import members
from ragvigil.store.settings import StoreSettings
from tests.clickhouse_http import Server
from tests.flow.test_split_traces import post, wait_for
from tests.flow.test_split_traces import rows as query
from tests.pipelines import answer, request
from tests.unit.ragvigil.app.fleet.test_local_share import (
    Daemon,
    left_out,
    member,
    rows,
    stored,
)

pytestmark = pytest.mark.slow


def opened(server: Server, folder: Path, name: str) -> Store:
    settings = StoreSettings(url=server.url, retry_seconds=0.5, timeout_seconds=20)
    store = Store.open(settings, folder / name, replica=name, epoch=1)
    store.sharing.announce()
    while not store.status().is_ready:
        time.sleep(0.05)
    return store


def test_scorers_divide_what_an_edge_stores_and_what_nobody_scores_is_counted(
    tmp_path: Path,
) -> None:
    names = {"edge-a": "edge", "scorer-1": "scorer", "scorer-2": "scorer"}
    with Server(tmp_path / "server") as server:
        stores = {name: opened(server, tmp_path, name) for name in names}
        every = {
            name: Daemon(store=stores[name], name=name, role=role, has_models=role == "scorer")
            for name, role in names.items()
        }
        edge, scorers = every["edge-a"], [every["scorer-1"], every["scorer-2"]]
        try:
            for name, role in names.items():
                members.beat(stores[name], member(name, role))
            # The later ones come by the minutes that the edge announced.
            for numbers in (range(30), range(30, 60)):
                sent = stored(stores["edge-a"], numbers, "edge-a")
                for daemon in every.values():
                    daemon.turn(*members.members(daemon.store))
                shares = [set(daemon.scored) & sent for daemon in scorers]
                assert shares[0] | shares[1] == sent
                assert not shares[0] & shares[1]
                assert all(shares)
            assert edge.scored == []
            keys = [(row["record_id"], row["rubric"]) for row in rows(stores["edge-a"])]
            assert len(keys) == len(set(keys)) == 60 * 3, "each score once"

            before = left_out("without_models")
            more = stored(stores["edge-a"], range(60, 65), "edge-a")
            gone = [member(daemon.name, is_live=False) for daemon in scorers]
            edge.turn(member("edge-a", "edge"), *gone)
            assert left_out("without_models") - before == len(more)
        finally:
            for store in stores.values():
                store.close()


def test_an_edge_that_leads_says_which_minutes_it_changed(tmp_path: Path) -> None:
    spans = answer()
    body = request(1, spans, shift=time.time_ns() - max(each.end_unix_nano for each in spans))
    with Server(tmp_path / "server") as server:
        settings = {
            "RAGVIGIL_STORE__URL": server.url,
            "RAGVIGIL_FLEET__REPLICA": "both",
            "RAGVIGIL_SCORERS__PROCESSES": "0",
        }
        with running(tmp_path / "both", settings=settings) as daemon:
            assert daemon.get("status")["fleet"]["leads"]
            post(daemon, body.SerializeToString())
            asked = "SELECT DISTINCT replica FROM dirty_minutes"
            wait_for(
                "a scorer elsewhere would not learn of the answer",
                lambda: query(server, asked) == [{"replica": "both"}],
            )
