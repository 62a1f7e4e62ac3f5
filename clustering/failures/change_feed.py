"""Which failing records come next: those of minutes that changed, and of complaints; oldest first.

What is known lies in the store: a crash repeats the look, and finds only what was not stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragvigil.store.issues import checkpoints
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues.failing_changes import Change

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

READER = "issues"
NANOS, DAY = 10**9, 86_400
OVERLAP_NANOS = 600 * NANOS
"""Roll-ups of one version are written in pieces: versions so close to the newest are read again."""
FIRST_DAYS = 14
"""How far the very first look goes back, of what was stored before there were issues."""
HEARD_DAYS = 2
"""What users said so long before the start is looked at again."""
DISLIKED_DAYS = 14
"""Age up to which a record can still be complained about."""
LATE_SECONDS = 60.0
"""Between the time that feedback carries and that at which it can be read."""
MINUTES, LOOKS = 240, 60
"""Minutes of one query, and queries of one turn: ten days in which every minute has traffic."""


class FailingLook:
    """`take` what changed, store it, then say so by `done`; else it comes again."""

    def __init__(self, store: Store, fails_below: Mapping[str, float]) -> None:
        self._store, self._fails_below = store, fails_below
        self._marked: int | None = None
        self._version = 0
        self._seen: dict[int, int] = {}
        self._pending: set[int] = set()
        self._taken: set[int] = set()
        self._heard: float | None = None

    @property
    def pending(self) -> int | None:
        """Minutes that are still to be looked at; None before the first look."""
        return None if self._marked is None else len(self._pending)

    def take(self, now: float, limit: int) -> list[Change]:
        """At most `limit` records whose failing changed, oldest minute first. Raises StoreError."""
        self._find_minutes(now)
        found: list[Change] = []
        self._taken = set()
        for _ in range(LOOKS):
            minutes = sorted(self._pending - self._taken)[:MINUTES]
            if not minutes or len(found) >= limit:
                break
            room = limit - len(found)
            several = failing.changes(self._store, minutes, self._fails_below, room)
            found += several
            is_whole = len(several) < room
            self._taken |= {one for one in minutes if is_whole or one < several[-1].minute}
        return found

    def done(self, now: float) -> None:
        """What was taken is stored. Raises StoreError."""
        self._pending -= self._taken
        if not self._pending and self._version != self._marked:
            checkpoints.mark(self._store, READER, self._version, int(now * NANOS))
            self._marked = self._version

    def skip(self, taken: Sequence[Change]) -> None:
        """Of these nothing could be made: their minutes wait for their next change."""
        self._taken |= {one.minute for one in taken}

    def _find_minutes(self, now: float) -> None:
        since = 0
        if self._marked is None:
            stood = checkpoints.position(self._store, READER)
            self._version = self._marked = stood or 0
            since = 0 if stood else int(now - FIRST_DAYS * DAY)
        found = failing.minutes_changed(self._store, self._version - OVERLAP_NANOS, since)
        self._pending |= {one for one, version in found.items() if self._seen.get(one) != version}
        self._version = max([self._version, *found.values()])
        recent = self._version - OVERLAP_NANOS
        self._seen = {one: version for one, version in found.items() if version > recent}
        told = now - HEARD_DAYS * DAY if self._heard is None else self._heard - LATE_SECONDS
        oldest = int(now - DISLIKED_DAYS * DAY)
        self._pending.update(failing.minutes_disliked(self._store, told, oldest))
        self._heard = now
