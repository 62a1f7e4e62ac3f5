"""Keeps a table of counts per minute and replica as new as the roll-ups."""

from __future__ import annotations

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
        self._version = 0

    def run(self, first: int) -> None:
        """Counts the minutes since `first` (seconds) that changed. Raises StoreError.

        The next run goes on where one failed.
        """
        if self._seen is None:
            # The version is read first: roll-ups written meanwhile are then counted again.
            changes = minute_counts.rolled_up(self._store, 0, first)
            minutes = minute_counts.uncounted(self._store, self._counted, first)
            self._version = minute_counts.newest_version(self._store, self._counted)
        else:
            changes = minute_counts.rolled_up(
                self._store, max(0, self._seen.version - (not self._is_complete)), first
            )
            minutes = list(changes.minutes)
        # Readers ask for what is newer than they saw: the version never stands still.
        self._version = max(self._version + 1, changes.version)
        minute_counts.count(
            self._store, self._counted, minutes, rolled_up=changes.version, version=self._version
        )
        if self._seen is None or changes.version:
            # Rows of one version are written in pieces: it is read again until no more have come.
            seen = self._seen or RolledUp()
            self._is_complete = (changes.version, changes.rows) == (seen.version, seen.rows)
            self._seen = changes
