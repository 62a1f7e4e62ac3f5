"""Keeps a table of counts per minute and replica as new as the roll-ups."""

from __future__ import annotations

from math import inf

from ragvigil.store.engine.store import Store
from ragvigil.store.watch import minute_counts
from ragvigil.store.watch.minute_counts import Counted, RolledUp


class MinuteCounter:
    """Counts the minutes that changed, run after run.

    The first run counts what an earlier process left, or counted in another form.
    """

    def __init__(self, store: Store, counted: Counted) -> None:
        self._store, self._counted = store, counted
        self._seen: RolledUp | None = None
        self._is_complete = False
        self._waiting: set[int] = set()
        self._version = 0

    def run(self, first: int, until: float = inf) -> None:
        """Counts the minutes since `first` (seconds) that changed. Raises StoreError.

        Minutes from `until` on wait for a later run: what is still being written would be counted
        again and again. The next run goes on where one failed.
        """
        seen = self._seen or RolledUp()
        changes, minutes = self._changes(first)
        minutes |= self._waiting
        due = [minute for minute in minutes if minute < until]
        # Readers ask for what is newer than they saw: the version never stands still.
        self._version = max(self._version + 1, changes.version)
        rolled_up = max(changes.version, seen.version)
        minute_counts.count(
            self._store, self._counted, due, rolled_up=rolled_up, version=self._version
        )
        self._waiting = minutes.difference(due)
        if self._seen is None or changes.version:
            # Rows of one version are written in pieces: it is read again until no more have come.
            self._is_complete = (changes.version, changes.rows) == (seen.version, seen.rows)
            self._seen = changes

    def _changes(self, first: int) -> tuple[RolledUp, set[int]]:
        """The newest roll-ups, and the minutes that changed since the run before."""
        if self._seen is None:
            # The version is read first: roll-ups written meanwhile are then counted again.
            changes = minute_counts.rolled_up(self._store, 0, first)
            minutes = minute_counts.uncounted(self._store, self._counted, first)
            self._version = minute_counts.newest_version(self._store, self._counted)
            return changes, set(minutes)
        seen = self._seen
        version = max(0, seen.version - (not self._is_complete))
        changes = minute_counts.rolled_up(self._store, version, first)
        stamps = changes.stamps.items()
        return changes, {minute for minute, stamp in stamps if seen.stamps.get(minute) != stamp}
