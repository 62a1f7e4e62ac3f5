"""The newest tick of `rubric_deltas`, and batches of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.store.engine.batch import Batch, Row, Rows, token_of
from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.scores.rubric_deltas import DELTAS

COLUMNS = (*DELTAS.columns, "computed", "replica", "epoch")
"""Of a row of `rubric_deltas`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """How far ticks have come; times since the epoch.

    `closed_tick` is the newest closed tick (seconds), None if there is none. `computed` is when
    rows were last computed (nanoseconds), 0 if there are none. `minute` is the start of the newest
    minute with roll-ups (seconds).
    """

    closed_tick: int | None
    computed: int
    minute: int


def newest(store: Store) -> Newest:
    """Reads how far ticks have come. Raises StoreError."""
    row = store.read("tick_newest", priority=Priority.TICK)[0]
    if not row["stored"]:
        return Newest(closed_tick=None, computed=0, minute=row["minute"])
    return Newest(
        closed_tick=row["closed_tick"] or None, computed=row["computed"], minute=row["minute"]
    )


def batch(store: Store, rows: Sequence[Row], computed: int, part: int) -> Batch:
    """Rows of `rubric_deltas` as a batch; `computed` and `part` make its token unique."""
    return Batch(
        rows={DELTAS.name: Rows(COLUMNS, rows)},
        token=token_of(DELTAS.name, store.replica, computed, part),
    )
