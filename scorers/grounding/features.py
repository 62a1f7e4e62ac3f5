"""The numbers that a model reads of an answer: one row a sentence.

`EVIDENCE` compares the sentence with the context and means the same for any service; `MANNER` says
how the sentence looks, where it stands and what its neighbours are like, and is worth learning from
labels of the service itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import log

from scorers.grounding.claims import FORM, Claim, Weights, claims, form
from scorers.grounding.context import Context
from scorers.grounding.evidence import LACK, SUPPORT, Compared
from scorers.text.negations import denies
from scorers.text.normalise import words

EVIDENCE = SUPPORT + LACK
NEIGHBOUR = ("stem_coverage", "pair_coverage", "line_cosine", "missing")
_SEEN = tuple(map(EVIDENCE.index, NEIGHBOUR))
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
class Measured:
    """An answer's sentences, a row of `NAMES` for each, and its best chunk: -1 where none is."""

    claims: tuple[Claim, ...]
    rows: tuple[tuple[float, ...], ...]
    chunks: tuple[int, ...]


def measure(answer: str, question: str, contents: Sequence[str], weights: Weights) -> Measured:
    """The features of every sentence of an answer that has words; time is linear in the texts."""
    found = claims(answer, weights)
    said = {word for claim in found for word in claim.weighed}
    context = Context(contents, said)
    asked = dict.fromkeys(words(question))
    asked_weight = sum(map(weights.of, asked))
    known = sum([weights.of(word) for word in asked if word in context.words])
    of_all = [
        log(1 + context.size),
        known / asked_weight if asked_weight else 0.0,
        _coverage(found, context),
    ]
    compared = [Compared(claim, context) for claim in found]
    evidence = [one.support(weights) + one.lack(frozenset(asked)) for one in compared]
    manner = _manner(compared, frozenset(asked), of_all)
    around = _around(evidence)
    return Measured(
        claims=tuple(found),
        rows=tuple(tuple(chain(*parts)) for parts in zip(evidence, manner, around, strict=True)),
        chunks=tuple(one.nearest.chunk for one in compared),
    )


def _coverage(found: Sequence[Claim], context: Context) -> float:
    """The share of the weight of an answer's distinct words that the context has."""
    weighed = {word: weight for claim in found for word, weight in claim.weighed.items()}
    held = sum([weight for word, weight in weighed.items() if word in context.words])
    return held / sum(weighed.values()) if weighed else 0.0


def _manner(
    compared: Sequence[Compared], question: frozenset[str], of_all: Sequence[float]
) -> list[list[float]]:
    seen: set[str] = set()
    lines: set[int] = set()
    rows = []
    for place, one in enumerate(compared):
        near = one.nearest
        row = form(one.claim, place, len(compared), question, seen)
        of_place = [near.chunk_lead, float(near.place not in lines), float(denies(one.claim.words))]
        rows.append([*row, *of_place, *of_all])
        seen.update(one.claim.weighed)
        lines.add(near.place)
    return rows


def _around(evidence: Sequence[Sequence[float]]) -> list[list[float]]:
    """The neighbours' evidence, that of the sentence itself at an end, and the answer's mean."""
    seen = [[row[place] for place in _SEEN] for row in evidence]
    mean = [sum(column) / len(seen) for column in zip(*seen, strict=True)]
    return [
        [*seen[max(0, at - 1)], *seen[min(at + 1, len(seen) - 1)], *mean] for at in range(len(seen))
    ]
