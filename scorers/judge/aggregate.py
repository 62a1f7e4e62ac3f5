"""Aggregates the values of verdicts into the value of a score, 0..1, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragvigil.model.record import RagRecord
from scorers.judge_table import OF_NUGGETS, About, JudgeTable

OKAY_WEIGHT = 0.5
"""Weight of an *okay* nugget beside a vital one (AutoNuggetizer, TREC RAG 2024)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictValue:
    """The value of one verdict; `is_vital` matters only for nuggets."""

    value: float
    is_vital: bool = True


def aggregate(way: str, graded: Sequence[VerdictValue], top: int = 0) -> float | None:
    """Aggregates verdicts in one of the ways of `judge_table`; None if no verdict counts.

    >>> values = ((1.0, True), (0.5, True), (0.0, False))
    >>> verdicts = [VerdictValue(value=value, is_vital=is_vital) for value, is_vital in values]
    >>> [aggregate(way, verdicts) for way in ("mean", "vital_strict", "vital_lenient", "weighted")]
    [0.5, 0.5, 0.75, 0.6]
    """
    if way in ("vital_strict", "vital_lenient"):
        graded = [verdict for verdict in graded if verdict.is_vital]
    values = sorted((verdict.value for verdict in graded), reverse=True)
    if way == "top_mean":
        values = values[:top]
    if not values:
        return None
    if way == "vital_strict":
        return sum(value == 1 for value in values) / len(values)
    if way == "weighted":
        return _weighted(graded)
    return min(1.0, sum(values) / len(values))


def prompt_depth(record: RagRecord, most: int) -> int:
    """How many of the best retrieved chunks count: as many as reached the prompt, at most `most`.

    Chunks that the service fetched and left out on purpose are no fault of its retrieval.
    """
    shown = len({chunk.chunk_id for chunk in record.context})
    return min(most, shown) if shown else most


def _weighted(graded: Sequence[VerdictValue]) -> float:
    weights = [(1.0 if verdict.is_vital else OKAY_WEIGHT, verdict.value) for verdict in graded]
    earned = sum(sorted(weight * value for weight, value in weights))
    return min(1.0, earned / sum(weight for weight, _ in weights))


def nugget_scores(table: JudgeTable, graded: Sequence[VerdictValue]) -> dict[str, float | None]:
    """All aggregations of nuggets, for the details of a score; empty for other rubrics."""
    if table.about is not About.NUGGETS:
        return {}
    return {way: aggregate(way, graded) for way in OF_NUGGETS}
