"""Which records from before a change were asked most like those from after it. Pure.

Likeness is the cosine of the questions' parts of words, three characters each and weighted by how
rare they are: it needs no model, and works for languages that do not part words. Records from
before are chosen by their questions alone, never by how they scored, so the choice proves nothing
by itself.
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
"""Places that parts of words are hashed into: two parts that share one make questions a little
more alike than they are."""
CHARACTERS = 400
"""Of a question; what follows is rarely what was asked."""
OTHER_ROUTE = 0.5
"""A question on another route must be this much more alike."""
USUAL = 0.05
"""Of the questions from before, those that nothing else from before is like."""
SAMPLE = 200
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Positions of an after-record and its before-record, and how alike their questions are."""

    after: int
    before: int
    likeness: float


def parts(question: str) -> frozenset[int]:
    """The hashed parts of a question's words.

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
    """One row of length 1 a question, or 0 where it has no word; shape (questions, SIZE)."""
    found = np.zeros((len(questions), SIZE), dtype=np.float32)
    for row, question in enumerate(questions):
        places = list(parts(question))
        found[row, places] = rarity[places]
    length = np.linalg.norm(found, axis=1, keepdims=True)
    found /= np.where(length > 0, length, 1)
    return found


def rarity(questions: Sequence[str]) -> Matrix:
    """How much each part says, by how few of the questions have it; shape (SIZE,)."""
    seen = np.zeros(SIZE, dtype=np.float32)
    for question in questions:
        seen[list(parts(question))] += 1
    return np.log((len(questions) + 1) / (seen + 1)).astype(np.float32) + np.float32(0.01)


def likeness(after: Sequence[str], before: Sequence[str]) -> Matrix:
    """How alike each two questions are, 0..1; shape (after, before)."""
    weights = rarity(before)
    return vectors(after, weights) @ vectors(before, weights).T


def least_alike(before: Sequence[str]) -> float:
    """How like its nearest other one a question from before is, but for the strangest 5 %."""
    return least_of(likeness(before[:SAMPLE], before))


def least_of(alike: Matrix) -> float:
    """The same of a matrix whose first questions are both rows and columns."""
    others = alike.copy()
    np.fill_diagonal(others, -1.0)
    return float(np.quantile(others.max(axis=1), USUAL)) if others.size else 0.0


def comparable(alike: Matrix, least: float) -> npt.NDArray[np.bool_]:
    """Which after-records ask what was asked before; shape (after,).

    A topic that is new has no before, so what it scores tells nothing of the change. Where most
    are new the questions themselves have changed, and all are compared as they are.
    """
    known: npt.NDArray[np.bool_] = alike.max(axis=1, initial=0.0) >= least
    return known if 2 * known.sum() >= len(known) else np.ones_like(known)


def match(alike: Matrix, after_routes: Sequence[str], before_routes: Sequence[str]) -> list[Match]:
    """The best before-record of each after-record; each is used once, the most alike go first.

    A before-record of the same route goes before one of another. Where fewer records are there
    from before than from after, the least alike of these have none.
    """
    same = np.asarray(after_routes)[:, None] == np.asarray(before_routes)[None, :]
    weighed = np.where(same, alike + OTHER_ROUTE, alike)
    found: list[Match] = []
    for _ in range(min(alike.shape)):
        after, before = divmod(int(weighed.argmax()), alike.shape[1])
        found.append(Match(after=after, before=before, likeness=float(alike[after, before])))
        weighed[after, :] = -1.0
        weighed[:, before] = -1.0
    return sorted(found, key=lambda one: one.after)
