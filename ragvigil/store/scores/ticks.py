"""How far the ticks of the deltas have come."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.issues import checkpoints

READER = "deltas"
"""The checkpoint: its position is the newest closed tick, written when ticks were computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """How far ticks have come; times since the epoch.

    `closed_tick` is the newest closed tick (seconds), None if there is none. `computed` is when
    ticks were last computed (nanoseconds), 0 if there are none. `minute` is the start of the newest
    minute with roll-ups (seconds).
    """

    closed_tick: int | None
    computed: int
    minute: int


def newest(store: Store) -> Newest:
    """Reads how far ticks have come. Raises StoreError."""
    row = store.read("tick_newest", priority=Priority.TICK)[0]
    if not row["known"]:
        return Newest(closed_tick=None, computed=0, minute=row["minute"])
    return Newest(
        closed_tick=row["closed_tick"] or None, computed=row["computed"], minute=row["minute"]
    )


def mark(store: Store, closed_tick: int, computed: int) -> None:
    """Says that all ticks are written as computed at `computed` (nanoseconds)."""
    checkpoints.mark(store, READER, closed_tick, computed)
