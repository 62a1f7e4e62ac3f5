"""Chooses the few members that represent an issue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustering.grouping.vectors import Vectors
from ragvigil.model.issue import Failure

TYPICAL = 0.7
"""Weight of likeness to the whole issue, against unlikeness to the members chosen before."""
SAME_PLACE = 0.25
"""Added to the likeness of two members of one route, and again of one version."""


def representatives(failures: Sequence[Failure], vectors: Vectors, *, count: int = 5) -> list[int]:
    """Positions of up to `count` members: the medoid, then by maximal marginal relevance.

    The medoid has the highest mean cosine to all; the others follow Carbonell and Goldstein (1998),
    with members of further routes and versions preferred. `vectors` (n, d) are of `failures`.
    """
    if not failures:
        return []
    typical = vectors @ vectors.mean(axis=0)
    routes = np.array([failure.route for failure in failures])
    versions = np.array([failure.service_version for failure in failures])
    chosen = [int(typical.argmax())]
    repeated = np.full(len(failures), -np.inf)
    while len(chosen) < min(count, len(failures)):
        last = chosen[-1]
        places = (routes == routes[last]).astype(float) + (versions == versions[last])
        repeated = np.maximum(repeated, vectors @ vectors[last] + SAME_PLACE * places)
        worth = TYPICAL * typical - (1 - TYPICAL) * repeated
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
    return chosen
