"""The table `rubric_deltas`: a row per series, tick and window; computed again, it is replaced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ragvigil.model.delta import Delta
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DELTAS = table("rubric_deltas", Delta)
HOUR = 3600
FOREVER = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaFilter:
    """Which deltas; an empty filter is none. `since` and `until` are seconds since the epoch."""

    service: str = ""
    environment: str = ""
    route: str = ""
    rubric: str = ""
    layer: str = ""
    window: str = ""
    since: int = 0
    until: int = FOREVER
    limit: int = 10_000


def batch(
    deltas: Iterable[Delta], computed_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these deltas in place of those computed earlier."""
    rows = DELTAS.rows(deltas, computed=computed_unix_nano, replica=replica, epoch=epoch)
    return Batch(rows={DELTAS.name: rows}, token=token_of("deltas", computed_unix_nano, len(rows)))


def newest(
    store: Store, filter_: DeltaFilter, *, priority: Priority = Priority.PAGE
) -> list[Delta]:
    """The newest tick since `filter_.since` of every series and window that matches."""
    return DELTAS.read(store, "deltas_newest", asdict(filter_), priority=priority)


def latest(store: Store, filter_: DeltaFilter, now: int) -> list[Delta]:
    """What `newest` gives, `now` in seconds since the epoch; reads as few rows as possible.

    A series with traffic in the last day has a row at the newest tick, its 24 h window: so rows of
    20 minutes are read, and where there are none, as after a pause of the daemon, older ones.
    """
    starts = (max(start, filter_.since) for start in (now - 1200, now - 25 * HOUR, 0))
    for start in dict.fromkeys(starts):
        deltas = newest(store, replace(filter_, since=start))
        if deltas:
            return deltas
    return []


def since(store: Store, filter_: DeltaFilter) -> list[Delta]:
    """All ticks since `filter_.since` that match, oldest first."""
    return DELTAS.read(store, "deltas_since", asdict(filter_))


def closed_until(store: Store) -> int | None:
    """The newest closed tick that is stored, seconds since the epoch; None where there is none."""
    row = store.read("deltas_closed_until", priority=Priority.TICK)[0]
    return int(row["tick"]) if row["rows"] else None
