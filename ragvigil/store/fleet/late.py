"""Traces whose spans came to several daemons: who told of them, and what is stored of them."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, Rows, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import traces
from ragvigil.store.records.traces import StoredTrace

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

OVERLAP_SECONDS = 60.0
"""Rows of this long before the newest that was read are read again: inserts end in any order."""
MOST_PARTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LatePart:
    """A daemon stored a part of a trace; `owner` is who stored its records, empty if unknown."""

    trace_id: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTrace:
    """What is stored of a trace: `spans` distinct ones by so many `writers`.

    `owner` is who stored its records, else who has its root; empty where nobody has either.
    `stored` is what its newest generation says, with the time of its records where it has any.
    """

    spans: int
    writers: int
    owner: str
    stored: StoredTrace

    def is_complete(self, *, keeps_all: bool) -> bool:
        """Whether the newest generation has every span that is stored."""
        return self.spans <= self.stored.generation and (keeps_all or self.writers < 2)


class LateParts:
    """Reads which parts others told of, from `since` (seconds since the epoch) on. One thread."""

    def __init__(self, store: Store, since: float) -> None:
        self._store, self._since = store, since
        self._seen: dict[tuple[str, str, str], float] = {}

    def take(self, others: Collection[str]) -> list[LatePart]:
        """Parts that were told of since the last call, but for those that `others` own.

        The first MOST_PARTS of them; the next call goes on behind these.
        Raises StoreError; the next call then returns the same.
        """
        parameters = {
            "since": max(0.0, self._since),
            "others": sorted(others),
            "limit": MOST_PARTS,
        }
        rows = self._store.read("late_spans", parameters, priority=Priority.TICK)
        named = {(row["trace_id"], row["owner"], row["replica"]): row["written"] for row in rows}
        fresh = [key for key, written in named.items() if written > self._seen.get(key, 0.0)]
        newest = max([self._since + OVERLAP_SECONDS, *named.values()])
        # More than that within the overlap would be read again and again.
        is_full = len(rows) == MOST_PARTS
        self._since = max(named.values()) if is_full else newest - OVERLAP_SECONDS
        self._seen = {
            key: written for key, written in (self._seen | named).items() if written >= self._since
        }
        return [LatePart(trace_id=trace_id, owner=owner) for trace_id, owner, _ in fresh]


def tell(store: Store, trace_id: str, owner: str) -> None:
    """Tells the owner of a trace that there are parts of it. Raises StoreError."""
    row = (trace_id, owner, 0, store.replica, store.epoch)
    # By the time too: a trace has several late parts, and the store drops an insert it has had.
    token = token_of("late_spans", *row, time.time_ns())
    store.write(Batch(rows={"late_spans": Rows(traces.LATE_COLUMNS, [row])}, token=token))


def split_traces(store: Store, trace_ids: Sequence[str], since: int) -> dict[str, SplitTrace]:
    """What is stored of these traces, of what was received since a time (seconds).

    A trace without spans in the store is left out. Raises StoreError.
    """
    parameters = {"trace_ids": sorted(trace_ids), "since": max(0, since)}
    rows = store.read("late_traces", parameters, priority=Priority.TICK) if trace_ids else []
    if not rows:
        return {}
    newest = traces.lookup(store, trace_ids)
    records = {
        row["trace_id"]: row
        for row in store.read("late_records", parameters, priority=Priority.TICK)
    }
    return {
        row["trace_id"]: SplitTrace(
            spans=int(row["spans"]),
            writers=int(row["writers"]),
            owner=(records.get(row["trace_id"]) or {}).get("writer") or row["root_writer"],
            stored=_stored(stored, records.get(row["trace_id"])),
        )
        for row in rows
        if (stored := newest.get(row["trace_id"]))
    }


def _stored(newest: StoredTrace, record: dict[str, object] | None) -> StoredTrace:
    """What the row of the trace says, but for what its records know better.

    The part without records may have more spans, and its row then hides the other's.
    """
    if record is None:
        return newest
    ids = record["record_ids"]
    assert isinstance(ids, list)
    return StoredTrace(
        generation=max(newest.generation, int(str(record["generation"]))),
        time_unix_nano=int(str(record["time_nanos"])),
        received_unix_nano=int(str(record["received"])) * 10**9,
        record_ids=tuple(ids),
        replica=str(record["writer"]),
        is_joined=newest.is_joined,
    )
