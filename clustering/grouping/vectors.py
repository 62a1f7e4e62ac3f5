"""The vector of a failing record: its reason and its question in one, and means of such vectors.

E is a sentence embedding of length 1. The joint vector is (√0.75 E(reason), √0.25 E(question)), so
that a dot product is 0.75 cos(reasons) + 0.25 cos(questions).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

REASON_SHARE = 0.75
MOST_MEMBERS = 200
"""A centroid moves as if it had no more members than this, so that an old issue can still drift."""

Vectors = NDArray[np.float32]


def joint(reasons: Vectors, questions: Vectors) -> Vectors:
    """Joint vectors (n, 2d) of length 1 from embeddings (n, d).

    A question that is unknown is a row of zeros: the reason then speaks alone.
    """
    halves = [np.sqrt(REASON_SHARE) * unit(reasons), np.sqrt(1 - REASON_SHARE) * unit(questions)]
    return unit(np.concatenate(halves, axis=1))


def unit(vectors: Vectors) -> Vectors:
    """Every row at length 1; a row of zeros stays so."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled


def centroid(vectors: Vectors) -> Vectors:
    """The mean of the rows of (n, d), at length 1."""
    return unit(vectors.mean(axis=0))


def moved(centre: Vectors, members: int, vector: Vectors) -> Vectors:
    """The centroid of `members` vectors after one more came; at length 1."""
    return unit(centre * min(members, MOST_MEMBERS) + vector)
