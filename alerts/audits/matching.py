"""Matches records from after a change with records from before it that asked the like. Pure.

Likeness is the cosine of the questions' character trigrams, weighted by how rare they are: it needs
no model, and works for languages that do not separate words. Records from before are chosen by
their questions alone, never by how they scored, so the choice cannot make a drop.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

SIZE = 2048
"""Places that trigrams are hashed into: a collision makes two questions a little more alike."""
CHARACTERS = 400
"""Characters of a question that are compared; what follows is rarely what was asked."""
OTHER_ROUTE = 0.5
"""A question on another route must be this much more alike."""
USUAL = 0.05
"""Share of the questions from before that are like no other question from before."""
SAMPLE = 200
"""Questions from before whose nearest other is sought, against all of them."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Positions of an after-record and its before-record, and how alike their questions are."""

    after: int
    before: int
    likeness: float


def parts(question: str) -> frozenset[int]:
    """Hashes the trigrams of a question's words.

    >>> parts("Refunds?") == parts("refunds")
    True
    """
    words = WORD.findall(question[:CHARACTERS].casefold())
    padded = (f" {word} " for word in words)
    return frozenset(
        zlib.crc32(word[at : at + 3].encode()) % SIZE
        for word in padded
        for at in range(len(word) - 2)
    )


def vectors(questions: Sequence[str], rarity: Matrix) -> Matrix:
    """One row of length 1 per question, of length 0 without words; shape (questions, SIZE)."""
    rows = np.zeros((len(questions), SIZE), dtype=np.float32)
    for row, question in enumerate(questions):
        places = list(parts(question))
        rows[row, places] = rarity[places]
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(length > 0, length, 1)
    return rows


def rarity(questions: Sequence[str]) -> Matrix:
    """Inverse document frequency of each trigram among the questions; shape (SIZE,)."""
    counts = np.zeros(SIZE, dtype=np.float32)
    for question in questions:
        counts[list(parts(question))] += 1
    # The last term keeps a trigram that every question has from weighing nothing.
    return np.log((len(questions) + 1) / (counts + 1)).astype(np.float32) + np.float32(0.01)


def likeness(after: Sequence[str], before: Sequence[str]) -> Matrix:
    """How alike two questions are, 0 to 1, for each pair; shape (after, before)."""
    weights = rarity(before)
    return vectors(after, weights) @ vectors(before, weights).T


def least_alike(before: Sequence[str]) -> float:
    """The likeness to its nearest other question that 95 % of the questions from before reach."""
    return least_of(likeness(before[:SAMPLE], before))


def least_of(alike: Matrix) -> float:
    """The same for a matrix whose rows are also its first columns."""
    other = alike.copy()
    np.fill_diagonal(other, -1.0)
    return float(np.quantile(other.max(axis=1), USUAL)) if other.size else 0.0


def comparable(alike: Matrix, least: float) -> npt.NDArray[np.bool_]:
    """Which after-records ask what was asked before; shape (after,).

    A new topic has no before, so its scores say nothing about the change. Where most questions are
    new, the traffic itself has changed, and all records are compared as they are.
    """
    is_known: npt.NDArray[np.bool_] = alike.max(axis=1, initial=0.0) >= least
    return is_known if 2 * is_known.sum() >= len(is_known) else np.ones_like(is_known)


def match(alike: Matrix, after_routes: Sequence[str], before_routes: Sequence[str]) -> list[Match]:
    """Returns the best before-record of each after-record; each is used once, greedily by likeness.

    A before-record of the same route goes before that of another. If there are fewer records from
    before than from after, the least alike of these have no match.
    """
    same = np.asarray(after_routes)[:, None] == np.asarray(before_routes)[None, :]
    weighed = np.where(same, alike + OTHER_ROUTE, alike)
    matches: list[Match] = []
    for _ in range(min(alike.shape)):
        after, before = divmod(int(weighed.argmax()), alike.shape[1])
        matches.append(Match(after=after, before=before, likeness=float(alike[after, before])))
        # Both are used up: their likeness to others no longer counts.
        weighed[after, :] = -1.0
        weighed[:, before] = -1.0
    return sorted(matches, key=lambda matched: matched.after)
