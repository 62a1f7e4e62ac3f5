"""Which records began to fail, fail differently, or stopped failing since the last turn.

The store holds the position: a crash repeats the queries, and they return only what was not stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clustering.failures.masking import masked
from clustering.failures.primary_failure import failure_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import checkpoints, failing_changes, failing_rows
from ragvigil.store.issues.failing_changes import Change
from ragvigil.store.issues.failing_rows import KeptFailure

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key, Route
    from ragvigil.store.issues.spikes import Spike

READER = "issues"
NANOS, DAY = 10**9, 86_400
OVERLAP_NANOS = 600 * NANOS
"""Roll-ups of one version are written in pieces: versions so close to the newest are read again."""
FIRST_DAYS = 14
"""How far back the very first turn reads records that were stored before there were issues."""
FEEDBACK_DAYS = 2
"""After a start, feedback of this many days is read again."""
DISLIKED_DAYS = 14
"""Age up to which a record can still be complained about."""
LATE_SECONDS = 60.0
"""Feedback can be read up to this long after the time that it carries."""
MINUTES, QUERIES = 240, 60
"""Minutes of one query, and queries of one turn: ten days in which every minute has traffic."""
NOTHING_REDRAWN: Mapping[Key, int] = {}
MOST_KNOWN = 100_000
"""Stored failures of one turn's traces; of a trace with more, the rest is treated as new."""


class ChangeFeed:
    """`take` changes, store what comes of them, then call `done`; otherwise they come again."""

    def __init__(self, store: Store, fails_below: Mapping[str, float]) -> None:
        self._store, self._fails_below = store, fails_below
        # Versions are those of roll-ups: `_version` was read, `_marked` is the stored checkpoint.
        self._marked: int | None = None
        self._version = 0
        self._recent_versions: dict[int, int] = {}
        self._pending: set[int] = set()
        self._finished: set[int] = set()
        self._feedback_read: float | None = None
        self._spiked: set[tuple[Spike, int]] = set()
        self._redrawn: frozenset[Key] = frozenset()

    @property
    def pending(self) -> int | None:
        """Minutes whose changes are still to be read; None before the first turn."""
        return None if self._marked is None else len(self._pending)

    def take(
        self,
        now: float,
        limit: int,
        spikes: Sequence[Spike] = (),
        redrawn: Mapping[Key, int] = NOTHING_REDRAWN,
    ) -> list[Change]:
        """At most `limit` records whose failing changed, oldest minute first.

        Minutes of a spike that is new, and those that it has gained, are read again, as are those
        of answers that are `redrawn` since: their minutes, by key. Raises StoreError.
        """
        self._find_minutes(now)
        self._pending |= self._spiked_minutes(spikes)
        self._pending |= {redrawn[key] for key in redrawn.keys() - self._redrawn}
        self._redrawn = frozenset(redrawn)
        changes: list[Change] = []
        self._finished = set()
        for _ in range(QUERIES):
            minutes = sorted(self._pending - self._finished)[:MINUTES]
            if not minutes or len(changes) >= limit:
                break
            room = limit - len(changes)
            page = failing_changes.changes(
                self._store, minutes, self._fails_below, room, spikes, redrawn
            )
            changes += page
            # A full page may end within a minute: that minute stays pending.
            is_whole = len(page) < room
            self._finished |= {m for m in minutes if is_whole or m < page[-1].minute}
        return changes

    def done(self, now: float) -> None:
        """Marks the changes taken last as stored. Raises StoreError."""
        self._pending -= self._finished
        if not self._pending and self._version != self._marked:
            checkpoints.mark(self._store, READER, self._version, int(now * NANOS))
            self._marked = self._version

    def read_again(self, minutes: Iterable[int]) -> None:
        """Has the next turns read these minutes (seconds since the epoch) once more."""
        self._pending.update(minutes)

    def skip(self, changes: Sequence[Change]) -> None:
        """Finishes minutes whose records are gone, though a full page may have ended within one.

        Without it a turn that only meets such records would take them again for ever.
        """
        self._finished |= {change.minute for change in changes}

    def _find_minutes(self, now: float) -> None:
        """Adds the minutes with new scores or new complaints to those that are pending."""
        since = 0
        if self._marked is None:
            position = checkpoints.position(self._store, READER)
            self._version = self._marked = position or 0
            since = 0 if position else int(now - FIRST_DAYS * DAY)
        versions = failing_changes.minutes_changed(
            self._store, self._version - OVERLAP_NANOS, since
        )
        self._pending |= {
            minute
            for minute, version in versions.items()
            if self._recent_versions.get(minute) != version
        }
        self._version = max([self._version, *versions.values()])
        recent = self._version - OVERLAP_NANOS
        self._recent_versions = {m: version for m, version in versions.items() if version > recent}
        self._pending.update(self._disliked_minutes(now))
        self._feedback_read = now

    def _spiked_minutes(self, spikes: Sequence[Spike]) -> set[int]:
        # By spike: an incident that goes on shows more, of minutes that were read for another one.
        spiked = {
            (replace(spike, first=0, last=0), minute)
            for spike in spikes
            for minute in range(spike.first, spike.last + 60, 60)
        }
        fresh = {minute for _, minute in spiked - self._spiked}
        self._spiked = spiked
        return fresh

    def _disliked_minutes(self, now: float) -> list[int]:
        """Minutes with records that users disliked since feedback was read last."""
        if self._feedback_read is None:
            since = now - FEEDBACK_DAYS * DAY
        else:
            since = self._feedback_read - LATE_SECONDS
        oldest = int(now - DISLIKED_DAYS * DAY)
        return failing_changes.minutes_disliked(self._store, since, oldest)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureUpdates:
    """What became of changed records.

    `failing` fail now, or for another reason than before, each with the issue that it was in.
    `gone` are the changes of those that fail no more, `gone_failures` the stored rows of them.
    """

    failing: tuple[KeptFailure, ...] = ()
    gone: tuple[Change, ...] = ()
    gone_failures: tuple[KeptFailure, ...] = ()


def read_updates(
    store: Store,
    changes: Sequence[Change],
    fails_below: Mapping[str, float],
    usual: Mapping[Route, Mapping[str, float]],
    spikes: Sequence[Spike] = (),
    redrawn: Collection[Key] = frozenset(),
) -> FailureUpdates:
    """Reads the changed records with their reasons, masked. Raises as `Store.read` does.

    `usual` are the shares (0..1) of each route's records that fail the rubrics; `spikes` and
    `redrawn` are what incidents show.
    """
    if not changes:
        return FailureUpdates()
    known = _known_failures(store, changes)
    gone = tuple(change for change in changes if not change.digest)
    still = [change for change in changes if change.digest]
    kept = []
    for row in failing_changes.read(store, still, fails_below, spikes, redrawn):
        route = (row.record.service, row.record.environment, row.record.route)
        failure = failure_of(
            row.record, row.scores, fails_below, row.time_unix_nano, usual.get(route, {}), spikes
        )
        if failure is not None:
            before = known.get(failure.key)
            kept.append(
                KeptFailure(
                    failure=failure,
                    masked=masked(failure.reason, failure.question),
                    received=row.received,
                    digest=row.digest,
                    membership=before.membership if before else None,
                )
            )
    gone_failures = tuple(known[change.key] for change in gone if change.key in known)
    return FailureUpdates(failing=tuple(kept), gone=gone, gone_failures=gone_failures)


def _known_failures(store: Store, changes: Sequence[Change]) -> dict[Key, KeptFailure]:
    """What the table `failures` has of the changed records' traces."""
    minutes = [change.minute for change in changes]
    filter_ = failing_rows.FailureFilter(
        trace_ids=tuple(sorted({change.trace_id for change in changes})),
        since=min(minutes),
        until=max(minutes) + 60,
        limit=MOST_KNOWN,
    )
    rows = failing_rows.find(store, filter_, priority=Priority.TICK)
    return {row.failure.key: row for row in rows}
