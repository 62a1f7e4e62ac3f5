"""Which minutes changed elsewhere, and who lives: read by one daemon, written by others."""

from __future__ import annotations

from ragvigil.store.engine.store import Store
from ragvigil.store.fleet import members
from ragvigil.store.fleet.dirty import DirtyElsewhere, announce
from ragvigil.store.fleet.members import Member, owner
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from tests.outcomes import NOW, SECOND, outcome_of
from tests.replicas import of_replica

MINUTE = NOW // SECOND - NOW // SECOND % 60
FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}


def told(store: Store, name: str, minutes: set[int]) -> None:
    """What a daemon says, through the one engine of this process."""
    engine = store._engine
    writer = engine._writer
    assert writer is not None
    engine.is_announcing, writer._writer = True, (name, 1)
    announce(of_replica(store, name), minutes)
    engine.is_announcing = False


def test_minutes_of_others_come_once_and_ones_own_never(store: Store) -> None:
    reader = DirtyElsewhere(of_replica(store, "analyst"))
    assert reader.take() == set()
    told(store, "edge-1", {60, 120})
    told(store, "analyst", {180})
    assert reader.take() == {60, 120}
    told(store, "edge-2", {120})
    assert reader.take() == {120}, "changed again, by another"
    assert reader.take() == set()


def test_a_reader_with_a_time_begins_there_and_reads_its_own_too(store: Store) -> None:
    told(store, "scorer-1", {60})
    told(store, "edge-1", {120})
    own = of_replica(store, "scorer-1")
    assert DirtyElsewhere(own, NOW / SECOND + 3600).take() == set()
    assert DirtyElsewhere(own, NOW / SECOND - 900).take() == {60, 120}


def test_a_batch_names_its_minutes_behind_its_rows(store: Store) -> None:
    rows = TraceRows(FACTS, replica="edge-1")
    rows.add(outcome_of(1))
    batch = rows.take()
    store.sharing.announce()
    store.write(batch)
    store.write(batch)
    store._engine.is_announcing = False
    found = DirtyElsewhere(of_replica(store, "analyst")).take()
    assert found == set(batch.minutes) != set()


def test_a_new_reader_begins_before_the_newest_roll_up(store: Store) -> None:
    told(store, "edge-1", {MINUTE})
    rows = TraceRows(FACTS, replica="edge-1")
    rows.add(outcome_of(1))
    batch = rows.take()
    store.write(batch)
    rollups.recompute(store, batch.minutes, version=2**63)
    found = DirtyElsewhere(of_replica(store, "analyst")).take()
    assert MINUTE in found, "a version ahead of the time hides nothing"


def test_a_member_lives_while_it_beats(store: Store) -> None:
    edge = of_replica(store, "edge-1")
    members.beat(edge, Member(replica="edge-1", roles=("edge",), acknowledged=5))
    members.beat(
        edge, Member(replica="edge-1", roles=("edge",), acknowledged=8, address="http://e")
    )
    (found,) = [each for each in members.members(store) if each.replica == "edge-1"]
    assert (found.acknowledged, found.address, found.is_live) == (8, "http://e", True)
    gone = Member(replica="x", roles=("edge",), age_seconds=members.MISSED_SECONDS)
    assert not gone.is_live


def test_when_one_goes_only_its_keys_get_another_owner() -> None:
    keys = [f"record-{number}" for number in range(3000)]
    before = {key: owner(key, ["a", "b", "c"]) for key in keys}
    after = {key: owner(key, ["a", "c"]) for key in keys}
    assert all(after[key] == before[key] for key in keys if before[key] != "b")
    shares = [list(before.values()).count(name) / len(keys) for name in "abc"]
    assert all(0.28 < share < 0.38 for share in shares)
    assert owner("record-1", []) == ""
