"""Cases whose questions are nearly the same as another's: by their letters, or by their meaning."""

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
"""Vectors of length 1, a row a text; None where no model runs."""
MOST = 10


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
    asked: Normalise,
    *,
    letters: float,
    meaning: float,
    embed: Embed = lambda _: None,
) -> list[NearDuplicate]:
    """The nearest others first, at most ten; `same` ask what this one asks, word for word.

    Letters: the larger of the normalised indel similarity of the words as they stand and sorted
    (rapidfuzz `ratio`, `token_sort_ratio`), from `letters` on; meaning: the cosine, from `meaning`.
    """
    own = asked(case.question)
    rest = [other for other in others if other.case_id != case.case_id]
    found = [_by_letters(own, other, asked(other.question)) for other in rest]
    near_ones = {
        duplicate.case_id: duplicate for duplicate in found if duplicate.likeness >= letters
    }
    vectors = embed([case.question, *(other.question for other in rest)]) if rest else None
    if vectors is not None:
        for other, cosine in zip(rest, vectors[1:] @ vectors[0], strict=True):
            if cosine >= meaning and other.case_id not in near_ones:
                near_ones[other.case_id] = _near(other, float(cosine), "meaning")
    return sorted(
        near_ones.values(), key=lambda duplicate: (-duplicate.likeness, duplicate.case_id)
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
