"""The tables `delta_changes` and `rubric_deltas`: deltas tick by tick for some days, then by hour.

A full hour has a row of every series and window with scores, in both tables; a tick between has
rows of what changed. So a row stands until the next of its series and window, an hour at most; one
without scores and coverage says that the window holds nothing any more. A tick that is computed
again replaces its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ragvigil.model.delta import Delta, Series
from ragvigil.model.score import Layer
from ragvigil.store.engine.batch import Batch, Row, Rows, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import declare, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DELTAS = table("rubric_deltas", Delta)
STAMPS = ("computed", "replica", "epoch")
HOURLY = declare("rubric_deltas", (*DELTAS.columns, *STAMPS))
CHANGES = declare("delta_changes", (*DELTAS.columns, *STAMPS, "digest"))
HOUR = 3600
DAY = 24 * HOUR
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDigests:
    """Ticks (seconds since the epoch) of one series and window with a row, and their digests."""

    series: Series
    window: str
    ticks: list[int]
    digests: list[int]


def batch(
    deltas: Iterable[Delta], computed_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these deltas in place of those computed earlier."""
    stamps = {"computed": computed_unix_nano, "replica": replica, "epoch": epoch}
    rows = DELTAS.rows(deltas, **stamps, digest=0)
    return changes_batch(rows.values, [], computed_unix_nano, rows.values)


def changes_batch(
    changes: Iterable[Row], hourly: Iterable[Row], computed: int, *parts: object
) -> Batch:
    """Rows of `CHANGES` and of `HOURLY`; `computed` and `parts` make the batch's token unique."""
    rows = {"delta_changes": Rows(CHANGES, list(changes)), DELTAS.name: Rows(HOURLY, list(hourly))}
    return Batch(
        rows={name: each for name, each in rows.items() if each},
        token=token_of(DELTAS.name, computed, *parts),
    )


def latest(store: Store, filter_: DeltaFilter, now: int) -> list[Delta]:
    """What stands at the newest tick until `filter_.until`, of every series and window that match.

    Where nothing does, as on a route without traffic, the last rows that had scores: of the day
    before `now` (seconds since the epoch), or of any time.
    """
    found = _standing(store, filter_)
    for start in (now - DAY - HOUR, 0) if not found else ():
        found = _newest(store, replace(filter_, since=max(start, filter_.since)), with_empty=False)
        if found:
            break
    return found


def since(store: Store, filter_: DeltaFilter) -> list[Delta]:
    """All rows since `filter_.since` that match, oldest first."""
    return DELTAS.read(store, "deltas_since", asdict(filter_))


def digests(store: Store, first: int, last: int) -> Iterator[StoredDigests]:
    """The digests of all changes that are stored of the ticks first..last."""
    window = {"first": first, "last": last}
    for row in store.read("delta_digests", window, priority=Priority.TICK):
        names = {**row, "layer": Layer(row["layer"])}
        yield StoredDigests(
            ticks=names.pop("ticks"),
            digests=names.pop("digests"),
            window=names.pop("window"),
            series=Series(**names),
        )


def _standing(store: Store, filter_: DeltaFilter) -> list[Delta]:
    row = store.read("delta_tick", {"until": filter_.until})[0]
    tick, is_closed = int(row["newest"]), bool(row["is_closed"])
    if tick < max(1, filter_.since):
        return []
    rows = _newest(store, replace(filter_, since=tick - tick % HOUR, until=tick), with_empty=True)
    return [replace(row, tick=tick, closed=row.closed or is_closed) for row in rows if row.holds]


def _newest(store: Store, filter_: DeltaFilter, *, with_empty: bool) -> list[Delta]:
    parameters = {**asdict(filter_), "with_empty": int(with_empty)}
    return DELTAS.read(store, "deltas_newest", parameters)
