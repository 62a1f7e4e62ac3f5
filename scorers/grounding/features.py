"""The features of an answer for the model: one row per sentence.

`EVIDENCE` compares the sentence with the context and means the same for every service. `MANNER`
describes the form and place of the sentence and its neighbours; it helps only a model that learned
from labels of the same service.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

from scorers.grounding.claims import FORM, MOST, Claim, Weights, claims, form
from scorers.grounding.context import Context
from scorers.grounding.evidence import LACK, SUPPORT, ClaimEvidence
from scorers.text.negations import denies
from scorers.text.normalise import words
from scorers.text.sentences import sentences as split

EVIDENCE = SUPPORT + LACK
NEIGHBOUR = ("stem_coverage", "pair_coverage", "line_cosine", "missing")
_NEIGHBOUR_PLACES = tuple(map(EVIDENCE.index, NEIGHBOUR))
PLACE = (
    "chunk_lead",
    "new_line",
    "denies",
    "context_words",
    "question_coverage",
    "answer_coverage",
)
MANNER = (
    *FORM,
    *PLACE,
    *(f"{where}_{name}" for where in ("before", "after", "mean") for name in NEIGHBOUR),
)
NAMES = EVIDENCE + MANNER


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFeatures:
    """The sentences of an answer, a row of `NAMES` for each, and its best chunk (-1 for none).

    `is_whole` is False where sentences behind the first MOST were not read.
    """

    claims: tuple[Claim, ...]
    rows: tuple[tuple[float, ...], ...]
    chunks: tuple[int, ...]
    is_whole: bool = True


def measure(
    answer: str, question: str, contents: Sequence[str], weights: Weights
) -> AnswerFeatures:
    """The features of an answer's first MOST sentences, of those that have words.

    Time is linear in the texts.
    """
    sentences = claims(answer, weights)
    context = Context(contents, [claim.words for claim in sentences])
    question_words = dict.fromkeys(words(question))
    asked = frozenset(question_words)
    asked_weight = sum(map(weights.of, question_words))
    known = context.known(asked)
    known_weight = sum([weights.of(word) for word in question_words if word in known])
    # The same for every sentence of the answer.
    of_all = [
        log(1 + context.size),
        known_weight / asked_weight if asked_weight else 0.0,
        _coverage(sentences, context),
    ]
    compared = [ClaimEvidence(claim, context) for claim in sentences]
    evidence = [comparison.support(weights) + comparison.lack(asked) for comparison in compared]
    manner = _manner(compared, asked, of_all)
    around = _around(evidence)
    return AnswerFeatures(
        claims=tuple(sentences),
        rows=tuple(tuple(chain(*parts)) for parts in zip(evidence, manner, around, strict=True)),
        chunks=tuple(comparison.nearest.chunk for comparison in compared),
        is_whole=len(split(answer)) <= MOST,
    )


def _coverage(sentences: Sequence[Claim], context: Context) -> float:
    """The share (0..1) of the weight of an answer's distinct words that the context has."""
    weighed = {word: weight for claim in sentences for word, weight in claim.weighed.items()}
    known_weight = sum([weight for word, weight in weighed.items() if word in context.words])
    return known_weight / sum(weighed.values()) if weighed else 0.0


def _manner(
    compared: Sequence[ClaimEvidence], question: frozenset[str], of_all: Sequence[float]
) -> list[list[float]]:
    earlier: set[str] = set()
    lines: set[int] = set()
    rows = []
    for place, comparison in enumerate(compared):
        near = comparison.nearest
        row = form(comparison.claim, place, len(compared), question, earlier)
        of_place = [
            near.chunk_lead,
            float(near.place not in lines),
            float(denies(comparison.claim.words)),
        ]
        rows.append([*row, *of_place, *of_all])
        earlier.update(comparison.claim.weighed)
        lines.add(near.place)
    return rows


def _around(evidence: Sequence[Sequence[float]]) -> list[list[float]]:
    """The evidence of both neighbours and the answer's mean.

    The first and the last sentence are their own neighbours.
    """
    summaries = [[row[place] for place in _NEIGHBOUR_PLACES] for row in evidence]
    mean = [sum(column) / len(summaries) for column in zip(*summaries, strict=True)]
    return [
        [*summaries[max(0, at - 1)], *summaries[min(at + 1, len(summaries) - 1)], *mean]
        for at in range(len(summaries))
    ]
