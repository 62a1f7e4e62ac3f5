"""How many live records came lately, and when the last one did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipts:
    """Live records since a time; `last` is when the last one came, seconds since the epoch."""

    last: int | None
    records: int
    routes: int


def since(store: Store, seconds: int, *, service: str = "", route: str = "") -> Receipts:
    """Counts live records since a time (seconds since the epoch); an empty name is no filter.

    Kept, as the page Now repeats it. Raises as `Store.read` does.
    """
    parameters = {"since": seconds, "service": service, "route": route}
    key = ("received", store.kept.moving(seconds), service, route)
    (row,) = store.kept.of(key, lambda: store.read("records_heard", parameters), lasts=True)
    records = int(row["records"])
    last = int(row["last"]) if records else None
    return Receipts(last=last, records=records, routes=int(row["routes"]))
