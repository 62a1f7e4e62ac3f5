"""Answers by version of their service and slice of the traffic, for the report on releases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.store.scores.slice_sums import slicing

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_ANSWERS = 50_000
"""Of more answers about this many are drawn: the intervals say what that costs."""
LATENCIES = 2000
"""Of a release and slice, to find the 95th percentile in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Number, sum and sum of squares of some values."""

    n: int
    total: float
    squares: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSums:
    """The answers of a version in a slice; an empty `dimension` is the whole service.

    Times are in seconds since the epoch, latencies in seconds, costs in US dollars.
    """

    service: str
    environment: str
    version: str
    dimension: str
    value: str
    first_seen: int
    last_seen: int
    answers: int
    latencies: Sequence[float]
    cost: Sums
    refusal_n: int
    refused: int
    groundedness: Sums
    answer_relevance: Sums
    context_recall: Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The rows, the newest version of a service first, and the share of answers they rest on."""

    rows: Sequence[ReleaseSums]
    share: float


def read(
    store: Store,
    since: int,
    until: int,
    *,
    by: Collection[str],
    tiers: Mapping[str, str],
    most: int,
    service: str = "",
) -> Drawn:
    """Answers from `since` until `until` (seconds), sliced by these dimensions.

    Of each dimension the `most` frequent values have a row. Raises StoreError.
    """
    asked = {"since": since, "until": until, "service": service}
    stored = int(store.read("answers_counted", asked)[0]["answers"])
    share = min(1.0, MOST_ANSWERS / stored) if stored else 1.0
    parameters = {
        "first": since,
        "end": until,
        "service": service,
        "per_million": round(share * 1e6),
        "latencies": LATENCIES,
        "most": most,
        **slicing(by, tiers),
    }
    rows = store.read("release_rows", parameters)
    return Drawn(rows=_newest_first([_sums(row) for row in rows]), share=share)


def _newest_first(rows: Sequence[ReleaseSums]) -> list[ReleaseSums]:
    """By service, version (the one seen last first) and dimension; the largest slice first."""
    seen = {
        (row.service, row.environment, row.version): row.last_seen
        for row in rows
        if not row.dimension
    }
    return sorted(
        rows,
        key=lambda row: (
            row.service,
            row.environment,
            -seen[row.service, row.environment, row.version],
            row.version,
            row.dimension,
            -row.answers,
            row.value,
        ),
    )


def _sums(row: Mapping[str, Any]) -> ReleaseSums:
    names = ("service", "environment", "dimension", "value", "first_seen", "last_seen")
    groundedness, relevance, recall = (
        Sums(n=int(n), total=total, squares=squares) for n, total, squares in row["scores"]
    )
    cost = {name: row[f"cost_{name}"] for name in ("n", "total", "squares")}
    return ReleaseSums(
        **{name: row[name] for name in (*names, "answers", "refusal_n", "refused")},
        version=row["release"],
        latencies=row["latency"],
        cost=Sums(**cost),
        groundedness=groundedness,
        answer_relevance=relevance,
        context_recall=recall,
    )
