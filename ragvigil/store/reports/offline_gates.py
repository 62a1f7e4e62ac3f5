"""What the gate said of golden sets that were asked before a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.table import nanos, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """A rubric in a run and in its base, over all cases or in a slice.

    The rubric '' is the whole gate: `verdict` is its state, `sentences` why. `low` and `high` bound
    the change (90 %), `allowed` is the largest fall that stops no release.
    """

    run_id: str
    base_release: str = ""
    rubric: str = ""
    dimension: str = ""
    slice: str = ""
    layer: str = ""
    verdict: str = ""
    decides: bool = False
    n: int = 0
    base: float = 0.0
    new: float = 0.0
    low: float = 0.0
    high: float = 0.0
    allowed: float = 0.0
    sentences: tuple[str, ...] = ()
    sender: str = ""


GATES = table("offline_gates", GateRow)


def write(store: Store, now: int, rows: Iterable[GateRow]) -> None:
    """Stores one gate; it replaces an earlier one of its run. `now` in nanoseconds.

    Raises StoreError.
    """
    kept = GATES.rows(rows, written=nanos(now), replica=store.replica, epoch=store.epoch)
    batch = {GATES.name: kept}
    store.write(Batch(rows=batch, token=token_of("offline_gate", *batch.items())))


def whole(store: Store, run_ids: Collection[str]) -> Mapping[str, GateRow]:
    """The gate of each of these runs that has one, by run. Raises StoreError."""
    return {row.run_id: row for row in _read(store, run_ids, is_whole=True)}


def of_run(store: Store, run_id: str) -> list[GateRow]:
    """The gate of a run, its whole first; empty where it has none. Raises StoreError."""
    return _read(store, [run_id], is_whole=False)


def _read(store: Store, run_ids: Collection[str], *, is_whole: bool) -> list[GateRow]:
    asked = {"run_ids": sorted(run_ids), "is_whole": int(is_whole)}
    return GATES.read(store, "offline_gates", asked) if run_ids else []
