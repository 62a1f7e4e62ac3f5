"""How far the ticks of `rubric_deltas` have come, and how their rows are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.store.engine.batch import Batch, Row, token_of
from ragvigil.store.engine.store import Priority, Store

TABLE = "rubric_deltas"


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """`closed_tick` is the newest closed tick (seconds), None where there is none; `computed`
    when rows were last computed (nanoseconds), 0 where there are none; `minute` the newest minute
    with roll-ups (its start, seconds)."""

    closed_tick: int | None
    computed: int
    minute: int


def newest(store: Store) -> Newest:
    """Where the ticks stand. Raises StoreError."""
    row = store.read("tick_newest", priority=Priority.TICK)[0]
    if not row["stored"]:
        return Newest(closed_tick=None, computed=0, minute=row["minute"])
    return Newest(
        closed_tick=row["closed_tick"] or None, computed=row["computed"], minute=row["minute"]
    )


def batch(store: Store, rows: Sequence[Row], computed: int, part: int) -> Batch:
    """Rows of `rubric_deltas` as a batch; `computed` and `part` name it among all others."""
    return Batch(rows={TABLE: rows}, token=token_of(TABLE, store.replica, computed, part))
