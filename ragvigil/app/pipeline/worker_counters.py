"""Counters of the scoring processes, added to those of the core.

Only the core is scraped: a worker sends by how much its counters grew with each job.
"""

from __future__ import annotations

from prometheus_client import Counter

from ragvigil.app.pipeline import metrics
from scorers.metrics import SCORER_ERRORS, SCORER_TOO_LATE

COUNTERS = (
    metrics.CLOCK_SKEW,
    metrics.FEEDBACK,
    metrics.LEAN,
    metrics.TRUNCATED,
    SCORER_ERRORS,
    SCORER_TOO_LATE,
)
"""Counters that scoring a closing may increase."""
Increases = dict[tuple[int, tuple[tuple[str, str], ...]], float]
"""By the counter's index in `COUNTERS` and its labels."""

_before: Increases = {}


def increases() -> Increases:
    """By how much each counter of this process has grown since the last call."""
    now = {
        (index, tuple(sample.labels.items())): sample.value
        for index, counter in enumerate(COUNTERS)
        for family in counter.collect()
        for sample in family.samples
        if sample.name.endswith("_total")
    }
    grown = {key: value - _before.get(key, 0.0) for key, value in now.items()}
    _before.update(now)
    return {key: by for key, by in grown.items() if by}


def add(grown: Increases) -> None:
    """Adds the increases of another process to this one's counters."""
    for (index, labels), by in grown.items():
        counter: Counter = COUNTERS[index]
        (counter.labels(**dict(labels)) if labels else counter).inc(by)
