"""What a helping process has counted, to be added to the core's counters."""

from __future__ import annotations

from prometheus_client import Counter

from ragvigil.app.pipeline import metrics
from scorers.metrics import SCORER_ERRORS

COUNTERS = (metrics.CLOCK_SKEW, metrics.FEEDBACK, metrics.LEAN, metrics.TRUNCATED, SCORER_ERRORS)
"""Counters that a closing increases on its way to rows."""
Increases = dict[tuple[int, tuple[tuple[str, str], ...]], float]
"""By the counter's place in `COUNTERS` and its labels."""

_before: Increases = {}


def increases() -> Increases:
    """By how much each counter of this process has grown since the last call."""
    now = {
        (place, tuple(sample.labels.items())): sample.value
        for place, counter in enumerate(COUNTERS)
        for family in counter.collect()
        for sample in family.samples
        if sample.name.endswith("_total")
    }
    grown = {key: value - _before.get(key, 0.0) for key, value in now.items()}
    _before.update(now)
    return {key: by for key, by in grown.items() if by}


def add(grown: Increases) -> None:
    """Adds what another process has counted."""
    for (place, labels), by in grown.items():
        counter: Counter = COUNTERS[place]
        (counter.labels(**dict(labels)) if labels else counter).inc(by)
