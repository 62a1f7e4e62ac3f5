"""Vectors in groups for tests, and the clustering of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import Vectors, unit

DIMENSIONS = 32


def groups(sizes: Sequence[int], *, spread: float = 0.05, seed: int = 0) -> Vectors:
    """Vectors in groups of these sizes, one after the other, around axes; at cosine 0 of others."""
    chance = np.random.default_rng(seed)
    axes = np.repeat(np.eye(DIMENSIONS)[: len(sizes)], sizes, axis=0)
    return unit((axes + spread * chance.normal(size=axes.shape)).astype(np.float32))


def clustering_of(labels: Sequence[int]) -> Clustering:
    """A clustering with these labels, -1 for noise, and high strengths."""
    numbers = np.array(labels, np.int32)
    memberships = np.zeros((len(numbers), int(numbers.max(initial=-1)) + 1), np.float32)
    inside = np.flatnonzero(numbers >= 0)
    memberships[inside, numbers[inside]] = 0.9
    return Clustering(
        labels=numbers,
        strengths=np.where(numbers >= 0, 0.9, 0).astype(np.float32),
        memberships=memberships,
    )
