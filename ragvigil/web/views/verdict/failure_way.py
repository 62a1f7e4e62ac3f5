"""How one answer failed, as far as its stored fields tell. Pure."""

from __future__ import annotations

from enum import StrEnum

from ragvigil.web.views.verdict.best_chunk import ChunkIds, Relevance
from ragvigil.web.views.verdict.scores import ScoreForm


class FailureWay(StrEnum):
    """What became of the chunk that answers the question, or of the answer made of it."""

    NONE = ""
    NOT_RETRIEVED = "not retrieved"
    LOST_BY_RERANKER = "lost by the reranker"
    CUT_FROM_CONTEXT = "cut from the context"
    NOT_USED = "in the context and not used"
    CONTRADICTED = "contradicted"
    REFUSED_WRONGLY = "refused wrongly"
    CITATION_WRONG = "citation wrong"
    BROKE_OFF = "broke off"
    UNKNOWN = "unknown"


CITING = ("citation_validity", "chunk_attribution")
BY_LABEL = {
    "refused_wrongly": FailureWay.REFUSED_WRONGLY,
    "contradicted": FailureWay.CONTRADICTED,
    "truncated": FailureWay.BROKE_OFF,
    "empty": FailureWay.BROKE_OFF,
}
"""Of the answer, by the label of the score that decides."""


def failure_way(
    deciding: ScoreForm, known: Relevance, chunks: ChunkIds, *, is_of_answer: bool
) -> FailureWay:
    """How an answer failed by the score that decides; UNKNOWN where the fields do not tell.

    `is_of_answer` says that this score is about the answer, not about what was retrieved.
    """
    best = known.best.chunk_id if known.best is not None else None
    is_lost = best is not None and best not in chunks.context
    if is_lost and "context" not in chunks.absent and chunks.context:
        is_dropped = chunks.was_reranked and best not in chunks.reranked
        return FailureWay.LOST_BY_RERANKER if is_dropped else FailureWay.CUT_FROM_CONTEXT
    if known.answers is False or _found_nothing(chunks):
        return FailureWay.NOT_RETRIEVED
    if not is_of_answer:
        return FailureWay.UNKNOWN
    if deciding.rubric in CITING:
        return FailureWay.CITATION_WRONG
    for label, way in BY_LABEL.items():
        if label in deciding.label.split(","):
            return way
    return FailureWay.NOT_USED if best in chunks.context else FailureWay.UNKNOWN


def _found_nothing(chunks: ChunkIds) -> bool:
    """Whether the spans show that the retriever returned nothing; absent is not empty."""
    return not chunks.retrieved and "retrieved" not in chunks.absent
