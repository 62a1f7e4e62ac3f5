"""The lease: one leader, whoever is killed, stopped or too late; over a list instead of a table."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from ragvigil.store.engine.errors import Fenced
from ragvigil.store.fleet.lease import BEAT_SECONDS, GRACE_SECONDS, LEASE_SECONDS, Lease
from ragvigil.store.fleet.lease_table import Entry, statement


@dataclass
class World:
    """A clock, and entries as a table of one server (`strict`: a KeeperMap) has them."""

    strict: bool = False
    now: float = 1000.0
    entries: list[Entry] = field(default_factory=list)
    meanwhile: list[Lease] = field(default_factory=list)

    def newest(self) -> Sequence[Entry]:
        rows = sorted(self.entries, key=lambda entry: -entry.number)
        found = [replace(entry, now_ms=int(self.now * 1000)) for entry in rows[:20]]
        # Between somebody's look and what he adds, others may take their turn.
        while self.meanwhile:
            self.meanwhile.pop().hold()
        return found

    def add(self, entry: Entry, seconds: float) -> Sequence[Entry]:
        there = [other for other in self.entries if other.number == entry.number]
        if not (self.strict and there):
            self.entries.append(replace(entry, until_ms=int((self.now + seconds) * 1000)))
        return [other for other in self.entries if other.number == entry.number]

    def lease(self, holder: str) -> Lease:
        return Lease(self, holder, address=f"http://{holder}", monotonic=lambda: self.now)


@pytest.fixture(params=[False, True], ids=["table", "keeper"])
def world(request: pytest.FixtureRequest) -> World:
    return World(strict=request.param)


def test_the_first_leads_and_the_second_stands_by(world: World) -> None:
    first, second = world.lease("a"), world.lease("b")
    assert first.hold()
    assert not second.hold()
    assert second.leader.address == "http://a"
    world.now += BEAT_SECONDS
    assert first.hold()
    assert (first.epoch, first.is_held, second.is_held) == (1, True, False)


def test_the_second_takes_over_within_a_minute_of_a_leader_that_is_killed(world: World) -> None:
    first, second = world.lease("a"), world.lease("b")
    assert first.hold()
    died = world.now
    while not second.hold():
        world.now += 3
    assert LEASE_SECONDS + GRACE_SECONDS <= world.now - died <= 60
    assert second.epoch == 2


def test_a_leader_that_was_stopped_neither_renews_nor_writes(world: World) -> None:
    first, second = world.lease("a"), world.lease("b")
    assert first.hold()
    world.now += LEASE_SECONDS + GRACE_SECONDS + 1
    assert second.hold()
    assert not first.is_held
    with pytest.raises(Fenced):
        first.condition()
    assert not first.hold()
    assert first.is_lost
    world.now += LEASE_SECONDS + GRACE_SECONDS + 1
    assert not first.hold(), "only a new life, which has read the store again, may lead"


def test_a_condition_names_the_epoch_and_the_end(world: World) -> None:
    lease = world.lease("a")
    assert lease.hold()
    end = int((world.now + LEASE_SECONDS) * 1000)
    assert f">= {end} OR (SELECT max(epoch) FROM leases) > 1" in lease.condition()


def test_a_new_life_of_the_same_daemon_need_not_wait(world: World) -> None:
    assert world.lease("a").hold()
    again = world.lease("a")
    assert again.hold()
    assert again.epoch == 2


def test_two_that_add_the_same_number_never_both_lead(world: World) -> None:
    first, second = world.lease("a"), world.lease("b")
    world.meanwhile = [second]
    assert not first.hold()
    assert second.is_held


@pytest.mark.parametrize("seed", range(20))
def test_never_do_two_lead_and_soon_one_does(world: World, seed: int) -> None:
    """Daemons that look at any time, stop for any time, and come between each other's steps."""
    chance = random.Random(seed)
    leases = [world.lease(name) for name in "abc"]
    alone = 0.0
    for step in range(300):
        world.now += chance.choice([0.0, 0.1, 2.0, 3.0])
        if step % 40 == 39:  # all stop for long
            world.now += chance.choice([10.0, 40.0])
        one = chance.choice(leases)
        if chance.random() < 0.3:
            world.meanwhile = [each for each in leases if each is not one][:1]
        one.hold()
        world.meanwhile = []
        holders = [each for each in leases if each.is_held]
        assert len(holders) <= 1
        alone += not holders
        leases = [
            world.lease(f"{name}{step}") if each.is_lost else each
            for name, each in zip("abc", leases, strict=True)
        ]
    assert alone < 250


def test_a_cluster_keeps_the_lease_in_keeper() -> None:
    assert (
        statement("main").splitlines()[0] == "CREATE TABLE IF NOT EXISTS leases ON CLUSTER `main`"
    )
    assert statement("main").endswith("ENGINE = KeeperMap('/ragvigil_leases') PRIMARY KEY number")
    assert "ENGINE = MergeTree ORDER BY number TTL" in statement()
