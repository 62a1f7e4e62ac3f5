"""The table of erasures: what was asked, how far it is, what it removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.erased import Subject
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


class ErasureState(StrEnum):
    """How far an erasure is."""

    RUNNING = "running"
    DONE = "done"
    """Nothing is left in the store, in caches and in quarantine; the spool may still hold it."""
    FAILED = "failed"
    """`step` says why. It may be asked again: what is gone stays gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """One erasure; ids are there as hashes alone (`erased_hash`).

    `traces` were found when it ran. `last_seq` is the last frame that the spool had then: once it
    is dropped, nothing is left in the spool either. `rows` counts what was removed, by table or
    file. `golden_cases` are cases in the set, which hold texts of an erased trace: a person decides
    about them.
    """

    erasure_id: str
    asked_unix_nano: int
    kind: Subject
    subject: str
    traces: tuple[str, ...] = ()
    last_seq: int = 0
    state: ErasureState = ErasureState.RUNNING
    step: str = ""
    rows: Mapping[str, int] = field(default_factory=dict)
    golden_cases: tuple[str, ...] = ()


ERASURES = table("erasures", Erasure)


def write(store: Store, erasure: Erasure, now: int) -> None:
    """Stores how far an erasure is (`now` in nanoseconds); returns when it is durable."""
    rows = ERASURES.rows([erasure], written=now, replica=store.replica, epoch=store.epoch)
    store.write(Batch(rows={ERASURES.name: rows}, token=token_of("erasures", rows)))


def find(store: Store, erasure_id: str = "", limit: int = 100) -> list[Erasure]:
    """Erasures, the newest first; of this id alone, if one is given."""
    return ERASURES.read(store, "erasures_find", {"erasure_id": erasure_id, "limit": limit})
