"""How far the ticks of `rubric_deltas` have come, and how their rows are written."""

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
    return Batch(
        rows={DELTAS.name: Rows(COLUMNS, rows)},
        token=token_of(DELTAS.name, store.replica, computed, part),
    )
