"""What an edge has instead of an analyst's parts, and what it does by the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import structlog

from alerts.notices.fingerprint import Fingerprint, Place
from alerts.notices.job import OF_INDEX, epoch_name
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.span import Closed, Trace
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet import dirty, members
from ragvigil.store.fleet.members import Member
from ragvigil.store.scores import judged, rollups
from ragvigil.store.scores.judged import StoredRecord
from ragvigil.store.watch import notices
from scorers.judge.job import JudgeJob

log = structlog.get_logger()

EACH = 20
ORPHAN_SECONDS = 6 * 3600
"""Age up to which the answers of a daemon that is gone are judged by another."""


class ToldElsewhere(DirtyMinutes):
    """Keeps no minutes: the store's writer tells the analyst of them."""

    def add(self, minutes: Iterable[int]) -> None:
        """Does nothing."""


class EdgeNoticing:
    """Stands where the pipeline has the notices: the analyst makes them from the store.

    `epochs` are the names that the analyst's notices give to the index of a route.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._epochs: dict[Place, str] = {}
        self.is_held = False

    def offer(self, prints: Iterable[tuple[str, Fingerprint]]) -> None:
        """Takes nothing: the analyst reads records."""

    def epochs(self) -> dict[Place, str]:
        """The name of each route's index since its last change."""
        return self._epochs

    def refresh(self) -> None:
        """Reads the newest notices. Raises StoreError."""
        self._epochs = {
            (notice.service, notice.environment, notice.route): epoch_name(notice)
            for notice in reversed(notices.newest(self._store, each=EACH))
            if notice.kind in OF_INDEX
        }


class EdgeWork:
    """What an edge does by the clock; each method raises StoreError, and the next run goes on.

    `since` (Unix time) is when traces came whose minutes a crash may have left untold; None where
    the daemon leads, because its own roll-ups begin with them.
    """

    def __init__(
        self,
        store: Store,
        judging: JudgeJob,
        describe: Callable[[], Member],
        clock: Callable[[], float],
        since: float | None,
    ) -> None:
        self._store, self._judging, self._clock = store, judging, clock
        self._describe, self._untold_since = describe, since
        self.members: Sequence[Member] = ()
        """Every daemon of the last days, as of the last beat."""
        self._erased: set[tuple[str, int, int]] = set()
        self._shared: tuple[frozenset[str], frozenset[str]] = frozenset(), frozenset()

    def beat(self) -> None:
        """Says that this daemon lives. The first beat tells which minutes a crash left untold."""
        if self._untold_since is not None:
            minutes = rollups.minutes_received(self._store, self._untold_since)
            dirty.announce(self._store, set(minutes))
            self._untold_since = None
        members.beat(self._store, self._describe())
        self.members = members.members(self._store)

    def read_erasures(self) -> None:
        """Learns what was erased elsewhere, so that it is not stored again."""
        for row in self._store.read("erasures_hashes"):
            name = (row["subject"], int(row["until"]), len(row["traces"]))
            if name not in self._erased:
                self._store.erased.add(row["traces"], row["subject"], int(row["until"]))
                self._erased.add(name)

    def take_orphans(self) -> None:
        """Has the judge score answers of daemons that are gone: those of the sample that this one
        owns among the live ones. A daemon that comes back judges them too; their scores have the
        same keys, and replace one another."""
        edges = [each for each in self.members if "edge" in each.roles]
        live = frozenset(each.replica for each in edges if each.is_live)
        gone = frozenset(each.replica for each in edges if not each.is_live)
        if not gone or (live, gone) == self._shared or self._store.replica not in live:
            return
        since = int(self._clock()) - ORPHAN_SECONDS
        keys = self._owned(members.unjudged(self._store, sorted(gone), since), live)
        stored = judged.read(self._store, keys)
        # Without scores: what else the other had chosen by them went with it.
        self._judging.offer([_as_outcome(each) for each in stored.values()])
        log.info("daemons are gone: some of their answers are offered here", of=sorted(gone))
        self._shared = live, gone

    def _owned(
        self, keys: Sequence[tuple[str, str]], live: frozenset[str]
    ) -> list[tuple[str, str]]:
        ours = self._store.replica
        return [
            (trace_id, record_id)
            for trace_id, record_id in keys
            if self._judging.wants(trace_id) and members.owner(record_id, live) == ours
        ]


def _as_outcome(stored: StoredRecord) -> Outcome:
    """A stored record as the pipeline offers it."""
    record, received = stored.record, stored.stamp.received * 10**9
    return Outcome(
        trace=Trace(
            trace_id=record.trace_id, spans=(), closed=Closed.IDLE, received_unix_nano=received
        ),
        outcome=TraceOutcome.SCORED,
        time_unix_nano=received,
        records=(ScoredRecord(record=record),),
    )
