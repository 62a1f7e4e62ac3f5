"""Judged records for tests: stored like any, then given a judge's verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import judged, rollups
from tests.outcomes import NOW, outcome_of

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

JUDGE = "openai:judge"
RUBRICS: Mapping[str, RubricFacts] = {
    name: RubricFacts(version="1", fails_below=bar)
    for name, bar in (("groundedness", 0.8), ("context_relevance", 0.5))
}


def ids(number: int) -> tuple[str, str]:
    """Trace and record id of `outcome_of(number)`."""
    return f"{number:032x}", f"{number:08x}{0:08x}"


def verdict(
    value: float | None,
    *,
    rubric: str = "groundedness",
    judge: str = JUDGE,
    version: str = "1",
    stream: Stream = Stream.BASE,
    kind: Kind = Kind.JUDGE,
    label: str = "",
) -> Score:
    return Score(
        rubric=rubric,
        value=value,
        label=label,
        layer=Layer.GENERATION,
        scorer=judge,
        version=version,
        kind=kind,
        stream=stream,
        inclusion_probability=0.05,
        absent="" if value is not None or label else "judge",
    )


def keep_judged(
    store: Store, verdicts: Mapping[int, Sequence[Score]], *, at: int = NOW, route: str = "/ask"
) -> None:
    """Stores traces by number with these scores, and brings the roll-ups up to date."""
    rows = TraceRows(RUBRICS)
    for number in verdicts:
        rows.add(outcome_of(number, time_unix_nano=at, received=at, route=route))
    store.write(rows.take())
    found = judged.read(store, [ids(number) for number in verdicts])
    written = judged.write(
        store, [(found[ids(number)], scores) for number, scores in verdicts.items()], RUBRICS
    )
    rollups.recompute(store, written.minutes)
