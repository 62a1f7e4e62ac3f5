"""The live traffic: how many records, how long, at which hours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The live records of one route since a time: their number, and the means of their sizes.

    Sizes are in characters; `chunks` reached the prompt, `retrieved` came from the retriever.
    `chunk_characters` is None where no chunk has a text. `hours` are 24 counts, by hour (UTC).
    """

    service: str
    environment: str
    route: str
    records: int
    question_characters: float
    answer_characters: float
    chunks: float
    retrieved: float
    citations: float
    chunk_characters: float | None
    hours: tuple[int, ...]


def since(store: Store, seconds: int, *, priority: Priority = Priority.PAGE) -> list[Traffic]:
    """The traffic of every route since a time (seconds since the epoch), the busiest first."""
    return [
        Traffic(
            service=row["service"],
            environment=row["environment"],
            route=row["route"],
            records=int(row["records"]),
            question_characters=float(row["question_characters"]),
            answer_characters=float(row["answer_characters"]),
            chunks=float(row["chunks"]),
            retrieved=float(row["retrieved"]),
            citations=float(row["citations"]),
            chunk_characters=_known(row["chunk_characters"]),
            hours=tuple(map(int, row["hours"])),
        )
        for row in store.read("traffic", {"since": seconds}, priority=priority)
    ]


def by_hour(traffic: Iterable[Traffic]) -> tuple[int, ...]:
    """Records of all routes by hour of the day (UTC), 24 counts."""
    return tuple(map(sum, zip((0,) * 24, *(route.hours for route in traffic), strict=True)))


def _known(mean: float | None) -> float | None:
    """None for the NaN that ClickHouse gives for a mean over no rows."""
    return None if mean is None or math.isnan(mean) else float(mean)
