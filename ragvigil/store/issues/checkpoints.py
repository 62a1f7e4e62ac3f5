"""The position of each reader of a changing table, where it goes on after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, Rows, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import declare

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

_COLUMNS = declare("checkpoints", ("reader", "position", "written", "replica", "epoch"))


def position(store: Store, reader: str) -> int | None:
    """The position of a reader, None before its first mark. Raises as `Store.read` does."""
    row = store.read("checkpoint_newest", {"reader": reader}, priority=Priority.TICK)[0]
    return int(row["position"]) if row["known"] else None


def mark(store: Store, reader: str, position: int, written_unix_nano: int) -> None:
    """Stores the position of a reader; returns when it is durable."""
    rows = Rows(_COLUMNS, [(reader, position, written_unix_nano, store.replica, store.epoch)])
    store.write(Batch(rows={"checkpoints": rows}, token=token_of("checkpoints", rows)))
