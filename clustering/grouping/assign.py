"""Which centroid a vector belongs to: the nearest, where it is clearly nearer than the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clustering.grouping.vectors import Vectors

LEAST_COSINE = 0.65
LEAST_MARGIN = 0.02
TEMPERATURE = 0.05
MOST_OTHERS = 4
"""Issues that are kept beside the one that a record joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The issue at `place`, with a strength of 0..1; `others` are the next, by place.

    The strengths are the softmax of cosine / 0.05 over all that are named, and sum to 1.
    """

    place: int
    strength: float
    others: tuple[tuple[int, float], ...] = ()


def assign(vector: Vectors, centroids: Vectors) -> Assignment | None:
    """Which of the centroids (k, d) a vector (d,) belongs to; None where none is near enough."""
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
