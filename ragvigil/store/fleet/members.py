"""Who lives: each daemon of a fleet writes a row at every beat, with its own books."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, Rows, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import declare

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

BEAT_SECONDS = 10.0
MISSED_SECONDS = 3 * BEAT_SECONDS
"""Without a beat for so long, two have been missed, and a daemon counts as gone."""
_COLUMNS = declare(
    "members",
    (
        *("replica", "roles", "address", "acknowledged", "in_spool", "mismatch", "behind"),
        "epoch",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A daemon as of its last beat; `age_seconds` is how long ago that was, by the server's clock.

    `acknowledged`, `in_spool` and `mismatch` count spans of its own spool; `behind` says in words
    how many wait.
    """

    replica: str
    roles: tuple[str, ...]
    address: str = ""
    acknowledged: int = 0
    in_spool: int = 0
    mismatch: int = 0
    behind: str = ""
    epoch: int = 0
    age_seconds: float = 0.0

    @property
    def is_live(self) -> bool:
        """Whether it has missed at most one beat."""
        return self.age_seconds < MISSED_SECONDS


def beat(store: Store, member: Member) -> None:
    """Writes the row of a member. Raises StoreError."""
    row = (
        member.replica,
        list(member.roles),
        member.address,
        member.acknowledged,
        member.in_spool,
        member.mismatch,
        member.behind,
        store.epoch,
    )
    # A beat that says the same as the one before is a row all the same.
    token = token_of("members", time.time_ns(), *map(str, row))
    store.write(Batch(rows={"members": Rows(_COLUMNS, [row])}, token=token))


def members(store: Store) -> list[Member]:
    """Every daemon of the last days, by name. Raises StoreError."""
    return [
        Member(**{**row, "roles": tuple(row["roles"])})
        for row in store.read("members", priority=Priority.TICK)
    ]


def owner(key: str, names: Collection[str]) -> str:
    """Who of `names` does the work of a key: the same for all who ask, and when one name goes, only
    its keys get another owner (rendezvous hashing). Empty without names.

    >>> owner("a", ["edge-1", "edge-2"]) in ("edge-1", "edge-2")
    True
    """
    return max(names, key=lambda name: (_weight(key, name), name), default="")


def _weight(key: str, name: str) -> bytes:
    return hashlib.blake2b(f"{name}\0{key}".encode(), digest_size=8).digest()


def unjudged(store: Store, replicas: Sequence[str], since: int) -> list[tuple[str, str]]:
    """Trace and record ids of records since a time (seconds) that these daemons stored and that no
    judge has scored. Raises StoreError."""
    parameters = {"replicas": list(replicas), "since": max(0, since)}
    rows = store.read("records_unjudged", parameters, priority=Priority.TICK)
    return [(row["trace_id"], row["record_id"]) for row in rows]
