"""Computes scores from the grades of retrieved chunks, without asking the judge again.

`precision`: are the relevant chunks on top? Average precision: the mean, over the relevant chunks,
of the precision at their ranks. `answerable`: 1 if a chunk is relevant, else 0; its mean is a rate.
`rank_gain`: nDCG after the reranker minus nDCG before it, both at the number of chunks that the
reranker kept, mapped from -1..1 to 0..1: 0.5 is no change, more is a gain. The gain of a chunk is
its grade's value; the ideal order is that of all graded chunks. `prompt_mean`: the mean of the
best chunks that reached the prompt, MOST_OF_PROMPT at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import log2

from ragvigil.model.record import Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.absence import first_absent
from scorers.judge.suspicion import LABEL
from scorers.judge_table import Grade, JudgeTable
from scorers.rubric import Rubric

MOST_OF_PROMPT = 5
"""Chunks of the prompt that count, the best: a long prompt is no worse for its last chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedChunk:
    """A retrieved chunk and its grade."""

    chunk_id: str
    grade: Grade


def derive(
    rubric: Rubric,
    table: JudgeTable,
    record: RagRecord,
    chunks: Sequence[GradedChunk],
    source: Score,
) -> Score:
    """The score of a derived rubric. `chunks` are in the order of retrieval.

    It is withheld if `source`, the score with these grades, is withheld.
    """
    missing, reason = first_absent(record, rubric.needs)
    if missing:
        score = Score.not_applicable(rubric.name, reason, absent=missing)
    else:
        score = _derived_value(rubric, table, record, chunks)
    is_suspected = LABEL in source.label.split(",")
    if is_suspected and score.value is not None:
        details = {**score.details, "value": score.value}
        score = replace(score, value=None, label=LABEL, details=details)
    return replace(
        score, layer=rubric.layer, scorer=source.scorer, version=rubric.version, kind=Kind.JUDGE
    )


def _derived_value(
    rubric: Rubric, table: JudgeTable, record: RagRecord, chunks: Sequence[GradedChunk]
) -> Score:
    # An ungraded chunk may be relevant: nothing is computed from the others alone.
    unknown = len(
        {chunk.chunk_id for chunk in record.retrieved} - {chunk.chunk_id for chunk in chunks}
    )
    if unknown:
        return Score.not_applicable(rubric.name, f"the text of {unknown} chunks is unknown")
    least = table.grade(rubric.relevant_from).value or 0.0
    values = [chunk.grade.value or 0.0 for chunk in chunks]
    relevant = [value >= least for value in values]
    details: dict[str, object] = {"grades": [chunk.grade.name for chunk in chunks]}
    if rubric.aggregation == "answerable":
        summary = f"{sum(relevant)} of {len(relevant)} chunks are relevant"
        value = float(any(relevant))
        return Score(rubric=rubric.name, value=value, explanation=summary, details=details)
    grades = {chunk.chunk_id: value for chunk, value in zip(chunks, values, strict=True)}
    if rubric.aggregation == "prompt_mean":
        return _prompt_mean(rubric.name, record.context, grades)
    # Without a relevant chunk the order is not at fault.
    if not any(relevant):
        return Score.not_applicable(rubric.name, "no chunk is relevant", label="none_relevant")
    if rubric.aggregation == "precision":
        ranks = ", ".join(str(rank) for rank, is_so in enumerate(relevant, 1) if is_so)
        value = average_precision(relevant)
        summary = f"relevant at rank {ranks}"
        return Score(rubric=rubric.name, value=value, explanation=summary, details=details)
    return _rank_gain(rubric.name, record.reranked, grades)


def average_precision(relevant: Sequence[bool]) -> float:
    """Average precision, 0..1, of chunks in rank order; at least one must be relevant.

    >>> average_precision([True, True, False]), average_precision([False, True])
    (1.0, 0.5)
    """
    above = accumulate(relevant)
    precisions = [hits / rank for rank, hits in enumerate(above, 1) if relevant[rank - 1]]
    return sum(precisions) / len(precisions)


def _prompt_mean(name: str, context: Sequence[Document], grades: Mapping[str, float]) -> Score:
    shown = list(dict.fromkeys(chunk.chunk_id for chunk in context))
    if not shown:
        return Score.not_applicable(name, "no chunk reached the prompt")
    strangers = [chunk_id for chunk_id in shown if chunk_id not in grades]
    if strangers:
        reason = f"{len(strangers)} chunks of the prompt were not retrieved, so they have no grade"
        return Score.not_applicable(name, reason)
    best = sorted((grades[chunk_id] for chunk_id in shown), reverse=True)[:MOST_OF_PROMPT]
    return Score(
        rubric=name,
        value=min(1.0, sum(best) / len(best)),
        explanation=f"{len(shown)} of {len(grades)} graded chunks reached the prompt",
    )


def _rank_gain(name: str, reranked: Sequence[Document], grades: Mapping[str, float]) -> Score:
    order = list(dict.fromkeys(chunk.chunk_id for chunk in reranked))
    if not order:
        return Score.not_applicable(name, "the reranker kept nothing")
    strangers = [chunk_id for chunk_id in order if chunk_id not in grades]
    if strangers:
        reason = f"{len(strangers)} reranked chunks were not retrieved, so they have no grade"
        return Score.not_applicable(name, reason)
    before = list(grades.values())
    after = [grades[chunk_id] for chunk_id in order]
    depth = len(order)
    had, has = ndcg(before, before, depth), ndcg(after, before, depth)
    return Score(
        rubric=name,
        value=min(1.0, max(0.0, (has - had + 1) / 2)),
        explanation=f"nDCG@{depth} {had:.2f} before the reranker, {has:.2f} after it",
        details={"before": had, "after": has, "depth": depth},
    )


def ndcg(gains: Sequence[float], all_gains: Sequence[float], depth: int) -> float:
    """The discounted gain of an order over that of the best order; a gain must be over 0.

    >>> ndcg([0.0, 1.0], [0.0, 1.0], 1), ndcg([1.0, 0.0], [0.0, 1.0], 2)
    (0.0, 1.0)
    """
    best = _discounted(sorted(all_gains, reverse=True)[:depth])
    return _discounted(gains[:depth]) / best


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))
