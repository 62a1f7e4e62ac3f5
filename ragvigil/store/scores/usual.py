"""Which values are usual in a place: histograms of its answers by rubric and segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.store.engine.kept import SLOW_SECONDS

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

HOURS = 24


def usual_values(
    store: Store, *, service: str, environment: str, route: str, until: int
) -> dict[tuple[str, str], list[int]]:
    """Counts of values rounded to a twentieth, of the HOURS before `until` (seconds).

    Raises as `Store.read` does.
    """
    parameters = {
        "service": service,
        "environment": environment,
        "route": route,
        "rubrics": [],
        "first": max(0, until - HOURS * 3600),
        "end": until,
    }
    key = ("usual", service, environment, route, until // 60)
    rows = store.kept.of(
        key,
        lambda: store.read("usual_values", parameters),
        lasts=True,
        most_seconds=SLOW_SECONDS,
    )
    return {(row["rubric"], row["segment"]): list(map(int, row["answers"])) for row in rows}
