"""Which stored answers local models score here: a scorer's share, or what a lost scorer left."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import structlog

from ragvigil.store.engine.store import Store
from ragvigil.store.fleet.dirty import DirtyElsewhere
from ragvigil.store.fleet.members import Member, owner
from ragvigil.store.scores import judged
from ragvigil.store.scores.unscored import Unscored, without_scorers
from scorers.local.job import WAITING_RECORDS, LeftOut, LocalScoring, Source

log = structlog.get_logger()

WINDOW_SECONDS = 900
"""Age up to which a stored answer gets local scores: what came while no scorer lived is made up
for, and one that cannot keep up leaves out the oldest."""
MOST_WAITING = 2_000
"""Answers that wait by name: with more the rate must fall before they are WINDOW_SECONDS old."""
KEPT_FREE = WAITING_RECORDS // 2
"""Room that is left to the pipeline of an edge."""


class LocalShare:
    """Offers stored answers to the local models of this daemon, each once, the newest first.

    A scorer reads all minutes that change, and takes the answers that the hash of the record id
    gives to it among live scorers. An edge leaves its answers to them while one lives; once none
    does, its pipeline offers its answers itself, and this reads those of its own that nobody has
    scored. Two daemons that score one answer write rows of one key.

    `samples` says whether a trace belongs to the sample now. For one thread.
    """

    def __init__(
        self,
        store: Store,
        local: LocalScoring,
        members_now: Callable[[], Sequence[Member]],
        samples: Callable[[str], bool],
        clock: Callable[[], float],
        *,
        is_scorer: bool,
    ) -> None:
        self._store, self._local, self._clock = store, local, clock
        self._members, self._samples, self._is_scorer = members_now, samples, is_scorer
        # Before the first beat nobody knows whether a scorer lives.
        local.source = Source.STORE if is_scorer else Source.ELSEWHERE
        self._dirty = DirtyElsewhere(store, clock() - WINDOW_SECONDS)
        self._owners: frozenset[str] = frozenset()
        self._changed: set[int] = set()
        self._known: dict[Unscored, None] = {}
        self._waiting: list[Unscored] = []

    def run(self) -> None:
        """Takes what is new, and fills the queue. Raises StoreError; the next run goes on."""
        if not (members := self._members()):
            return
        scorers = [each for each in members if "scorer" in each.roles]
        live = frozenset(each.replica for each in scorers if each.is_live)
        owners = self._placed(live)
        now = int(self._clock())
        if owners != self._owners:
            log.info("answers for local models", source=self._local.source, scorers=sorted(live))
            self._changed = set(range(self._oldest(now), now + 60, 60))
            self._owners = owners
        if self._is_scorer:
            self._changed |= self._dirty.take()
        if owners:
            self._take(owners, now)
            self._offer()
        else:  # a scorer that is lost later may not have scored what was taken here before
            self._waiting.clear()
            self._known.clear()

    def _placed(self, live: frozenset[str]) -> frozenset[str]:
        """Sets where the answers come from; returns who divides those that are read from the
        store."""
        ours = frozenset({self._store.replica})
        if self._is_scorer:
            return live | ours
        if live:
            self._local.source = Source.ELSEWHERE
            return frozenset()
        # Before the store is read: what is stored later the pipeline offers.
        self._local.source = Source.PIPELINE if self._local.has_models else Source.NOBODY
        return ours

    def _take(self, owners: Collection[str], now: int) -> None:
        """Adds what of the changed minutes is ours to what waits; leaves out what is too much."""
        oldest, ours = self._oldest(now), self._store.replica
        minutes = {minute for minute in self._changed if minute >= oldest}
        replicas = () if self._is_scorer else (ours,)
        found = without_scorers(self._store, minutes, self._local.names, replicas)
        self._changed.clear()
        fresh = [
            each
            for each in found
            if each not in self._known and owner(each.record_id, owners) == ours
        ]
        self._known |= dict.fromkeys(fresh)
        self._known = {each: None for each in self._known if each.minute_seconds >= oldest}
        if not self._local.has_models:
            self._local.leave_out(len(fresh))
            return
        waiting = [*(each for each in fresh if self._samples(each.trace_id)), *self._waiting]
        recent = [each for each in waiting if each.minute_seconds >= oldest]
        self._local.leave_out(len(waiting) - len(recent), LeftOut.TOO_OLD)
        self._waiting = recent[:MOST_WAITING]
        self._local.leave_out(len(recent) - len(self._waiting))

    def _offer(self) -> None:
        """Hands on as many as there is room for, with their texts."""
        room = max(0, self._local.room - KEPT_FREE)
        if due := self._waiting[:room]:
            keys = [(each.trace_id, each.record_id) for each in due]
            self._local.offer_stored(judged.read(self._store, keys).values())
            del self._waiting[:room]

    @staticmethod
    def _oldest(now: int) -> int:
        """The first minute that is read."""
        return (now - WINDOW_SECONDS) // 60 * 60
