"""Which stored records some scorers have not scored yet."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


class Unscored(NamedTuple):
    """A generation of a record; `minute_seconds` is the minute under which its rows lie."""

    trace_id: str
    record_id: str
    generation: int
    minute_seconds: int


def without_scorers(
    store: Store,
    minutes: Collection[int],
    scorers: Collection[str],
    replicas: Collection[str] = (),
) -> list[Unscored]:
    """Live records of these minutes (seconds) that none of these scorers scored, newest first.

    With `replicas` only those that these daemons stored. Raises as `Store.read` does.
    """
    if not minutes:
        return []
    parameters = {
        "minutes": sorted(minutes),
        "scorers": sorted(scorers),
        "replicas": sorted(replicas),
    }
    rows = store.read("records_without_scorers", parameters, priority=Priority.TICK)
    return [Unscored(**row) for row in rows]
