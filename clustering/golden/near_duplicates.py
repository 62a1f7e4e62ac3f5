"""Finds cases with nearly the same question, by its letters or by its meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clustering.golden.content import Normalise
from ragvigil.model.golden import GoldenCase

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32] | None"]
"""Vectors of length 1, a row for each text; None if no model runs."""
MOST = 10
"""Duplicates that are shown, the nearest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicate:
    """Another case that asks nearly the same; `by` is `same`, `letters` or `meaning`."""

    case_id: str
    question: str
    likeness: float
    by: str


def near_duplicates(
    case: GoldenCase,
    others: Iterable[GoldenCase],
    normalise: Normalise,
    *,
    letters: float,
    meaning: float,
    embed: Embed = lambda _: None,
) -> list[NearDuplicate]:
    """At most ten other cases, the nearest first; those by `same` ask it word for word.

    `letters` is the least likeness (0..1), the larger of the normalised indel similarities of the
    words in order and sorted (rapidfuzz `ratio`, `token_sort_ratio`); `meaning` the least cosine.
    """
    own = normalise(case.question)
    rest = [other for other in others if other.case_id != case.case_id]
    by_letters = [_by_letters(own, other, normalise(other.question)) for other in rest]
    duplicates = {
        duplicate.case_id: duplicate for duplicate in by_letters if duplicate.likeness >= letters
    }
    vectors = embed([case.question, *(other.question for other in rest)]) if rest else None
    if vectors is not None:
        for other, cosine in zip(rest, vectors[1:] @ vectors[0], strict=True):
            if cosine >= meaning and other.case_id not in duplicates:
                duplicates[other.case_id] = _near(other, float(cosine), "meaning")
    return sorted(
        duplicates.values(), key=lambda duplicate: (-duplicate.likeness, duplicate.case_id)
    )[:MOST]


def _by_letters(own: str, other: GoldenCase, words: str) -> NearDuplicate:
    from rapidfuzz import fuzz

    if own == words:
        return _near(other, 1.0, "same")
    likeness = max(fuzz.ratio(own, words), fuzz.token_sort_ratio(own, words)) / 100
    return _near(other, likeness, "letters")


def _near(other: GoldenCase, likeness: float, by: str) -> NearDuplicate:
    return NearDuplicate(
        case_id=other.case_id, question=other.question, likeness=round(likeness, 3), by=by
    )
