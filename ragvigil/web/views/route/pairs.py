"""Which rubrics are read together, and why. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricPair:
    """Two rubrics of which neither means much without the other."""

    first: str
    second: str
    says: str


PAIRS = (
    RubricPair(
        first="citation_validity",
        second="citation_coverage",
        says="Many citations are no gain if they are false.",
    ),
    RubricPair(
        first="groundedness",
        second="completeness",
        says="The first up and the second down are narrower answers, the reverse broader ones.",
    ),
    RubricPair(
        first="context_adherence",
        second="answer_relevance",
        says="An answer can keep to the context and leave the question, or the reverse.",
    ),
    RubricPair(
        first="answerable",
        second="refusal_rightness",
        says="To refuse is right where the chunks hold no answer.",
    ),
    RubricPair(
        first="context_recall",
        second="context_precision",
        says="The first up and the second down are a wider retrieval, the reverse a narrower one.",
    ),
    RubricPair(
        first="context_relevance",
        second="chunk_utilization",
        says="Relevance says what was found, utilization what of it the answer used.",
    ),
)


def paired(rubrics: Collection[str]) -> list[tuple[tuple[str, ...], str]]:
    """Rubrics as they stand beside each other, and what a pair says; the single ones come last.

    >>> paired(["refusal", "completeness", "groundedness"])[0][0]
    ('groundedness', 'completeness')
    """
    pairs = [
        ((pair.first, pair.second), pair.says)
        for pair in PAIRS
        if pair.first in rubrics and pair.second in rubrics
    ]
    used = {name for names, _ in pairs for name in names}
    return [*pairs, *(((name,), "") for name in rubrics if name not in used)]
