"""Assigns a vector to its nearest centroid, where that is near and clearly nearer than the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clustering.grouping.vectors import Vectors

LEAST_COSINE = 0.65
LEAST_MARGIN = 0.02
"""Of the cosines to the nearest and the next centroid: between two issues a record stays loose."""
TEMPERATURE = 0.05
MOST_OTHERS = 4
"""Further issues whose strengths are stored beside that of the issue a record joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The centroid at `place`, with a strength of 0..1; `others` are the next nearest.

    The strengths are the softmax of cosine / 0.05 over `place` and `others`, and sum to 1.
    """

    place: int
    strength: float
    others: tuple[tuple[int, float], ...] = ()


def assign(vector: Vectors, centroids: Vectors) -> Assignment | None:
    """The centroid of (k, d) that a vector (d,) belongs to; None where none is near and clear."""
    cosines = centroids @ vector
    order = np.argsort(-cosines, kind="stable")[: 1 + MOST_OTHERS]
    near = cosines[order].astype(np.float64)
    if not len(near) or near[0] < LEAST_COSINE:
        return None
    if len(near) > 1 and near[0] - near[1] < LEAST_MARGIN:
        return None
    weights = np.exp((near - near[0]) / TEMPERATURE)
    ranked = list(zip(order.tolist(), (weights / weights.sum()).tolist(), strict=True))
    return Assignment(place=ranked[0][0], strength=ranked[0][1], others=tuple(ranked[1:]))
