"""Sums by route since a time, from which operating points are read."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ragvigil.model.operating import Place, ScoreSums, Spending, Thumbs
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


def scores(store: Store, rubrics: Collection[str], since: int) -> list[ScoreSums]:
    """Sums of these rubrics since a time (seconds). Raises StoreError."""
    rows = store.read(
        "operating_scores", {"since": since, "rubrics": list(rubrics)}, priority=Priority.PAGE
    )
    return [
        ScoreSums(
            place=_place(row),
            rubric=row["rubric"],
            n=float(row["n"]),
            total=float(row["total"]),
            squares=float(row["squares"]),
        )
        for row in rows
    ]


def spending(store: Store, since: int) -> list[Spending]:
    """The cost of contexts since a time (seconds). Raises StoreError."""
    return [
        Spending(
            place=_place(row),
            context_tokens=float(row["context_tokens"]),
            usd=float(row["context_usd"]) if row["priced"] else None,
        )
        for row in store.read("operating_spending", {"since": since}, priority=Priority.PAGE)
    ]


def thumbs(store: Store, since: int) -> list[Thumbs]:
    """Ratings of answers since a time (seconds). Raises StoreError."""
    return [
        Thumbs(place=_place(row), rated=int(row["rated"]), down=int(row["down"]))
        for row in store.read("operating_thumbs", {"since": since}, priority=Priority.PAGE)
    ]


def _place(row: dict[str, Any]) -> Place:
    return Place(service=row["service"], environment=row["environment"], route=row["route"])
