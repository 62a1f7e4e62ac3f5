"""Joins the embeddings of a record's reason and question into one vector; means of such vectors.

E is a sentence embedding of length 1. The joint vector is (√0.75 E(reason), √0.25 E(question)), so
that a dot product is 0.75 cos(reasons) + 0.25 cos(questions).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

REASON_SHARE = 0.75
"""By questions alone records group by topic: adjusted Rand index 0.52, and 0.11 against causes."""
MOST_MEMBERS = 200
"""A centroid moves as if its issue had at most this many members, so that an old one can drift."""

Vectors = NDArray[np.float32]


def joint(reasons: Vectors, questions: Vectors) -> Vectors:
    """Joint vectors (n, 2d) of length 1 from embeddings (n, d).

    A row of zeros is an unknown question: the joint vector is then that of the reason.
    """
    halves = [np.sqrt(REASON_SHARE) * unit(reasons), np.sqrt(1 - REASON_SHARE) * unit(questions)]
    return unit(np.concatenate(halves, axis=1))


def unit(vectors: Vectors) -> Vectors:
    """Scales every row to length 1; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def centroid(vectors: Vectors) -> Vectors:
    """The mean of the rows of (n, d), scaled to length 1."""
    return unit(vectors.mean(axis=0))


def moved(centre: Vectors, members: int, vector: Vectors) -> Vectors:
    """The centroid of `members` vectors after a further one joined, at length 1."""
    return unit(centre * min(members, MOST_MEMBERS) + vector)
