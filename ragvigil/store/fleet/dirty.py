"""Which minutes changed on all daemons: each writes them, the analyst reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

OVERLAP_SECONDS = 60
"""Rows of this long before the newest that was read are read again: inserts end in any order."""
STARTS_BEFORE_SECONDS = 300
"""How long before the newest roll-up a new reader begins."""


class DirtyElsewhere:
    """Reads what others wrote since the last look. For one thread.

    With `since` (Unix time) it begins there instead of before the newest roll-up, and reads what
    this daemon wrote too.
    """

    def __init__(self, store: Store, since: float | None = None) -> None:
        self._store, self._since = store, since
        self._without = [store.replica] if since is None else []
        self._seen: dict[str, float] = {}

    def take(self) -> set[int]:
        """Minutes (starts, seconds) that others made out of date since the last call.

        The first call goes back to before the newest roll-up, whoever made it. Raises StoreError;
        the next call then returns the same.
        """
        if self._since is None:
            (row,) = self._store.read("rollup_newest", priority=Priority.TICK)
            self._since = max(0.0, int(row["version"]) / 1e9 - STARTS_BEFORE_SECONDS)
        parameters = {"since": self._since, "without": self._without}
        (row,) = self._store.read("dirty_minutes", parameters, priority=Priority.TICK)
        batches = row["batches"]
        fresh = [batch for batch in batches if batch[0] not in self._seen]
        newest = max([self._since + OVERLAP_SECONDS, *(written for *_, written in batches)])
        self._since = newest - OVERLAP_SECONDS
        self._seen |= {token: written for token, _, written in fresh}
        self._seen = {
            token: written for token, written in self._seen.items() if written >= self._since
        }
        return {int(minute) for _, minutes, _ in fresh for minute in minutes}


def announce(store: Store, minutes: set[int]) -> None:
    """Says that these minutes changed, without rows. Raises StoreError."""
    if minutes:
        token = token_of("announced", store.replica, store.epoch, sorted(minutes))
        store.write(Batch(rows={}, token=token, minutes=frozenset(minutes)))
