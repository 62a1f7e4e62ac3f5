"""The dimensions of stored records: what a release, a tenant or a route can change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import traces
from ragvigil.store.records.record_forms import DIMENSIONS

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDimensions:
    """The time of a record, and its dimensions in words, `route` among them; without empty ones."""

    time_unix_nano: int
    values: Mapping[str, str]


def dimensions(store: Store, keys: Collection[Key]) -> dict[Key, RecordDimensions]:
    """The dimensions of these records; those that are no longer stored are left out.

    Raises StoreError.
    """
    stored = traces.lookup(store, sorted({trace_id for trace_id, _ in keys}))
    if not stored:
        return {}
    seconds = {trace.time_unix_nano // 10**9 for trace in stored.values()}
    parameters = {
        "minutes": sorted({time - time % 60 for time in seconds}),
        "trace_ids": sorted(stored),
        "received": min(trace.received_unix_nano for trace in stored.values()) // 10**9,
    }
    asked_for = set(keys)
    return {
        key: RecordDimensions(
            time_unix_nano=int(row["time_nanos"]),
            values={
                name: str(row[name])
                for name in ("route", *DIMENSIONS)
                if row[name] not in (None, "")
            },
        )
        for row in store.read("record_dimensions", parameters, priority=Priority.TICK)
        if (key := (row["trace_id"], row["record_id"])) in asked_for
    }
