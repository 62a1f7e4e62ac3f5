"""Input of the limits of one's own: sums of a signal by route and bin of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.score import Layer
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class BinSums:
    """Number, sum and sum of squares of a signal on a route in the bin from `start`, seconds.

    `layer` is that of the rubric, None for a measure.
    """

    service: str
    environment: str
    route: str
    start: int
    n: float
    total: float
    squares: float
    layer: Layer | None


def bin_sums(
    store: Store,
    signal: str,
    *,
    is_measure: bool,
    service: str,
    route: str,
    start: int,
    end: int,
    bin_seconds: int,
) -> Iterator[BinSums]:
    """Yields the bins from `start` until `end` that hold values; an empty service or route is any.

    `signal` is a rubric, `rubric:label`, or a measure of records. Raises StoreError.
    """
    rubric, _, label = signal.partition(":")
    place = {"service": service, "route": route, "first": start, "end": end, "bin": bin_seconds}
    name = "limit_measures" if is_measure else "limit_scores"
    asked = {"measure": signal} if is_measure else {"rubric": rubric, "label": label}
    for row in store.read(name, {**place, **asked}, priority=Priority.TICK):
        yield BinSums(
            service=str(row["service"]),
            environment=str(row["environment"]),
            route=str(row["route"]),
            start=int(row["start"]),
            n=float(row["n"]),
            total=float(row["total"]),
            squares=float(row["squares"]),
            layer=Layer(row["layer"]) if row["layer"] else None,
        )
