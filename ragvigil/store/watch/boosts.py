"""Boosts: routes that are judged more for a while. One stage writes rows, the judge reads them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Place = tuple[str, str, str]
"""Service, environment and route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boost:
    """A route is judged at `rate` (0..1) until a time; a newer row of the route replaces it."""

    service: str
    environment: str
    route: str
    rate: float
    until_unix_nano: int


BOOSTS = table("sampling_overrides", Boost)


def write(store: Store, boosts: Iterable[Boost], written_unix_nano: int) -> None:
    """Stores boosts; returns when they are durable."""
    stamps = {"written": written_unix_nano, "replica": store.replica, "epoch": store.epoch}
    rows = BOOSTS.rows(boosts, **stamps)
    token = token_of(BOOSTS.name, store.replica, written_unix_nano)
    store.write(Batch(rows={BOOSTS.name: rows}, token=token))


def rates(store: Store, now: float) -> dict[Place, float]:
    """The rates of the routes that are boosted now (seconds). Raises StoreError."""
    now_nanos = {"now": int(now * 10**9)}
    rows = BOOSTS.read(store, "sampling_overrides", now_nanos, priority=Priority.TICK)
    return {(row.service, row.environment, row.route): row.rate for row in rows}
