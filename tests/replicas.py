"""The store of a test as several daemons see it."""

from __future__ import annotations

import copy

from ragvigil.store.engine.store import Store


def of_replica(store: Store, name: str) -> Store:
    """The same store, as the daemon of this name writes and reads it."""
    other = copy.copy(store)
    other.replica = name
    return other
