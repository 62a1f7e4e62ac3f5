"""Whether anything is heard of a service at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Live records since a time: when the last one came (seconds, None without any), how many."""

    last: int | None
    records: int
    routes: int


def since(store: Store, seconds: int, *, service: str = "", route: str = "") -> Heard:
    """What came since then, seconds since the epoch; an empty name is no filter."""
    asked = {"since": seconds, "service": service, "route": route}
    row = store.read("records_heard", asked)[0]
    records = int(row["records"])
    last = int(row["last"]) if records else None
    return Heard(last=last, records=records, routes=int(row["routes"]))
