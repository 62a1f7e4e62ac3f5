"""Answers that show an incident as answers to the same question did before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key
    from ragvigil.store.issues.failing_rows import KeptFailure

DAY = 86_400


def with_usual_label(
    store: Store, failing: Sequence[KeptFailure], *, rubric: str, label: str, until: int
) -> set[Key]:
    """Those of a service's failing records whose question mostly got the label before, too.

    Before is the day until a time, in seconds since the epoch. Raises StoreError.
    """
    return _read(store, "usual_answers", failing, until, {"rubric": rubric, "label": label})


def with_usual_measure(
    store: Store, failing: Sequence[KeptFailure], *, measure: str, until: int
) -> set[Key]:
    """Those whose measure is that of most answers to their question before. Raises StoreError."""
    return _read(store, "usual_measures", failing, until, {"measure": measure})


def _read(
    store: Store,
    query: str,
    failing: Sequence[KeptFailure],
    until: int,
    shown: Mapping[str, object],
) -> set[Key]:
    if not failing:
        return set()
    first = failing[0].failure
    window = {
        "minutes": sorted({record.minute for record in failing}),
        "trace_ids": sorted({record.failure.trace_id for record in failing}),
        "service": first.service,
        "environment": first.environment,
        "since": max(0, until - DAY),
        "until": until,
        **shown,
    }
    rows = store.read(query, window, priority=Priority.TICK)
    return {(row["trace_id"], row["record_id"]) for row in rows}
