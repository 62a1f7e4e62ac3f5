"""Metrics of how failing records become issues."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from ragvigil.model.score import Layer

if TYPE_CHECKING:
    from ragvigil.store.issues.memberships import Tally

FAILURES = Counter(
    "ragvigil_clustering_failures",
    "Failing records by rubric family and outcome: assigned by their vectors, by key to a "
    "provisional issue, by incident, clustered, loose (in no issue yet), same (stayed in their "
    "issue), gone (they fail no more).",
    ["family", "placed"],
)
PENDING_MINUTES = Gauge(
    "ragvigil_clustering_pending_minutes",
    "Minutes with changed scores whose failing records are still to be read.",
)
WAITING = Gauge(
    "ragvigil_clustering_waiting",
    "Failing records of the last days without vectors of this model, as far as a turn reads them.",
)
UNGROUPED = Gauge(
    "ragvigil_clustering_ungrouped",
    "Failing records of the last days that are in no issue.",
    ["family"],
)
CHILD_FAILURES = Counter(
    "ragvigil_clustering_child_failures",
    "Runs of the clustering process that gave no clusters, by reason.",
    ["reason"],
)
SECONDS = Histogram(
    "ragvigil_clustering_seconds",
    "Duration of a step: place, age, cluster, propose.",
    ["step"],
    buckets=(0.05, 0.25, 1, 5, 15, 60, 300, 1200),
)


def show_ungrouped(loose: Iterable[Tally]) -> None:
    """Replaces the gauge of failing records in no issue, by rubric family."""
    counts = Counts[str]()
    for tally in loose:
        counts[tally.family] += tally.records
    for family in Layer:
        UNGROUPED.labels(family).set(counts[family])
