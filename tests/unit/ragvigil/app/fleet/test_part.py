"""What an edge has and runs, and what an analyst takes from the store."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from collector.spool.directory import checkpoint_name
from ragvigil.app.fleet.edge import EdgeNoticing, EdgeWork
from ragvigil.app.fleet.feed import Feed
from ragvigil.app.fleet.leading import Leading
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.app.settings import Settings, SettingsError
from ragvigil.app.settings.fleet import FleetSettings, Role, replica_of
from ragvigil.app.settings.installation import require_installed
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.outcome import Outcome
from ragvigil.store.fleet.lease import Lease
from ragvigil.store.fleet.lease_table import Entry
from ragvigil.store.fleet.members import Member
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.settings import StoreSettings
from tests.outcomes import NOW, SECOND, outcome_of
from tests.patience import PATIENCE_SECONDS
from tests.replicas import of_replica

FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}
MODELS = InferenceSettings(enabled=True)
HEAVY = ("torch", "chdb", "pandas", "umap", "sklearn", "hdbscan", "onnxruntime", "transformers")


class Judging:
    """Takes what is offered; wants every second trace."""

    def __init__(self) -> None:
        self.adopted: list[tuple[str, str]] = []

    def wants(self, trace_id: str) -> bool:
        return int(trace_id, 16) % 2 == 0

    def offer(self, outcomes: list[Outcome]) -> None:
        records = [each.record for outcome in outcomes for each in outcome.records]
        self.adopted += [(record.trace_id, record.record_id) for record in records]


class Noticing:
    """Keeps the names of what is offered."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def offer(self, prints: list[tuple[str, object]]) -> None:
        self.names += [name for name, _ in prints]


def work(store: Any, judging: Any) -> EdgeWork:
    member = Member(replica=store.replica, roles=("edge",))
    return EdgeWork(store, judging, lambda: member, lambda: NOW / SECOND, NOW / SECOND)


def stored(store: Any, replica: str, count: int) -> None:
    rows = TraceRows(FACTS, replica=replica)
    for number in range(count):
        rows.add(outcome_of(number))
    store.write(rows.take())


def test_answers_of_a_daemon_that_is_gone_are_shared_by_those_that_live(store: Any) -> None:
    stored(store, "gone", 40)
    taken: dict[str, list[tuple[str, str]]] = {}
    for name in ("edge-1", "edge-2"):
        judging = Judging()
        edge = work(of_replica(store, name), judging)
        edge.members = [
            Member(replica="gone", roles=("edge",), age_seconds=99),
            Member(replica="edge-1", roles=("edge",)),
            Member(replica="edge-2", roles=("edge",)),
        ]
        edge.take_orphans()
        edge.take_orphans()
        taken[name] = judging.adopted
    both = taken["edge-1"] + taken["edge-2"]
    assert len(both) == len(set(both)) == 20, "each of the sample once, and no other"
    assert taken["edge-1"]
    assert taken["edge-2"]


def test_an_analyst_sees_each_answer_of_others_once_and_none_before_it_has_settled(
    store: Any,
) -> None:
    stored(store, "edge-1", 6)
    noticing, now = Noticing(), [NOW / SECOND]
    own = of_replica(store, "analyst")
    feed = Feed(own, DirtyMinutes(), noticing, lambda: now[0])  # type: ignore[arg-type]
    minutes = {
        minute for minute in range(NOW // SECOND - 900, NOW // SECOND + 60) if minute % 60 == 0
    }
    feed._changed = set(minutes)
    feed.offer_answers()
    early = len(noticing.names)
    now[0] += 120
    feed._changed = set(minutes)
    feed.offer_answers()
    feed._changed = set(minutes)
    feed.offer_answers()
    assert early < 6
    assert len(noticing.names) == len(set(noticing.names)) == 6


def test_an_edge_learns_what_was_erased_elsewhere(store: Any) -> None:
    from ragvigil.store.engine.batch import Batch, Rows, token_of

    columns = ("erasure_id", "asked", "kind", "subject", "traces", "written")
    row = ("e1", NOW, "trace", "", ["0" * 32], NOW)
    store.write(Batch(rows={"erasures": Rows(columns, [row])}, token=token_of("e", NOW)))
    edge = work(store, Judging())
    edge.read_erasures()
    count = store.erased.count
    edge.read_erasures()
    assert "0" * 32 in store.erased._traces
    assert store.erased.count == count


def test_an_edge_keeps_no_fingerprints(store: Any) -> None:
    noticing = EdgeNoticing(store)
    noticing.offer([])
    noticing.refresh()
    assert noticing.epochs() == {}


class Entries:
    """A lease's table; `taken` makes its next entry another's."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def newest(self) -> list[Entry]:
        return list(reversed(self.entries))

    def add(self, entry: Entry, _: float) -> list[Entry]:
        self.entries.append(entry)
        return [entry]


def test_one_that_loses_the_lease_shows_nothing_and_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ragvigil.app.fleet.leading.BEAT_SECONDS", 0.01)
    entries, stop, now = Entries(), threading.Event(), [0.0]
    leading = Leading(Lease(entries, "a", monotonic=lambda: now[0]), stop.set)
    assert leading.take()
    assert REGISTRY.get_sample_value("ragvigil_leads") == 1

    class Shows:
        def collect(self) -> list[Any]:
            return ["series"]

    shown = leading.while_led(Shows())
    assert list(shown.collect()) == ["series"]
    now[0] = 1000.0
    assert REGISTRY.get_sample_value("ragvigil_leads") == 0
    assert list(shown.collect()) == [], "by its own clock, before it has asked anybody"
    entries.entries.append(
        Entry(number=9, holder="b", epoch=2, address="", until_ms=10**15, now_ms=0)
    )
    leading.start()
    assert stop.wait(PATIENCE_SECONDS)
    leading.stop()


def test_an_edge_never_leads_and_a_daemon_of_its_own_store_always_does() -> None:
    Leading(None, lambda: None, is_edge=True)
    assert REGISTRY.get_sample_value("ragvigil_leads") == 0
    assert Leading(None, lambda: None).take()
    assert REGISTRY.get_sample_value("ragvigil_leads") == 1


def test_a_name_is_made_once_and_a_store_of_ones_own_has_none(tmp_path: Path) -> None:
    assert replica_of(tmp_path, "", "x") == ""
    assert replica_of(tmp_path, "http://h:8123/d", "x") == "x"
    made = replica_of(tmp_path, "http://h:8123/d")
    assert made
    assert replica_of(tmp_path, "http://h:8123/d") == made
    other = tmp_path / "upgraded"
    (other / "spool").mkdir(parents=True)
    (other / "spool" / checkpoint_name("core")).write_text("")
    assert replica_of(other, "http://h:8123/d") == "", "its rows have no name"


def test_both_roles_are_the_default() -> None:
    assert FleetSettings().roles == (Role.EDGE, Role.ANALYST)
    assert FleetSettings(roles=("analyst", "edge")).roles == (Role.EDGE, Role.ANALYST)
    url = StoreSettings(url="http://h:8123/d")
    assert Settings(fleet=FleetSettings(roles=("edge",)), store=url).fleet.roles == (Role.EDGE,)


def test_a_scorer_needs_a_server_and_is_one_beside_other_roles() -> None:
    url = StoreSettings(url="http://h:8123/d")
    for roles in (("scorer",), ("scorer", "edge"), ("analyst", "scorer")):
        settings = Settings(fleet=FleetSettings(roles=roles), store=url, inference=MODELS)
        assert set(settings.fleet.roles) == set(roles)
        with pytest.raises(ValueError, match="a scorer reads what edges stored"):
            Settings(fleet=FleetSettings(roles=roles), inference=MODELS)


def test_a_scorer_says_which_extra_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragvigil.extras._is_installed", lambda name: name == "chdb")
    url = StoreSettings(url="http://h:8123/d")
    settings = Settings(fleet=FleetSettings(roles=("scorer",)), store=url, inference=MODELS)
    with pytest.raises(
        SettingsError, match=r"a scorer runs local models, and .* ragvigil\[local\]"
    ):
        require_installed(settings)


IMPORTED = """
import json, socket, sys, threading
from pathlib import Path
from ragvigil.app import core, daemon
from ragvigil.app.settings import Settings
from ragvigil.app.settings.fleet import FleetSettings
from ragvigil.model.clock import Pace
from ragvigil.store.settings import StoreSettings
from ragvigil.web.settings import WebSettings

stop = threading.Event()
ours, theirs = socket.socketpair()
settings = Settings(
    data_dir=Path(sys.argv[1]), fleet=FleetSettings(roles=("edge",)),
    store=StoreSettings(url=sys.argv[2]), web=WebSettings(endpoint="127.0.0.1:0"),
)
run = core.Pipeline.run
core.Pipeline.run = lambda self, _: (stop.set(), run(self, stop))
core.run(settings, theirs, stop, Pace())
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.slow
def test_a_life_of_an_edge_imports_nothing_heavy(tmp_path: Path) -> None:
    from tests.clickhouse_http import Server

    with Server(tmp_path / "server") as server:
        done = subprocess.run(
            [sys.executable, "-c", IMPORTED, str(tmp_path / "edge"), server.url],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_SECONDS * 3,
        )
    modules = set(json.loads(done.stdout.splitlines()[-1]))
    assert "ragvigil.app.fleet.edge" in modules
    assert not modules.intersection(HEAVY)
