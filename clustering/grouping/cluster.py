"""Clusters vectors: UMAP to few dimensions, then HDBSCAN.

Runs in the one-shot process of `clustering.grouping.child`: the libraries take 450 MB and 10 s of
compiling before they do anything.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustering.grouping.assign import LEAST_COSINE, LEAST_MARGIN, TEMPERATURE
from clustering.grouping.vectors import Vectors, centroid

Indices = NDArray[np.intp]

MOST_FITTED = 5000
"""Vectors that are fitted; the rest is assigned. 50,000 take 29 s, 1.2 GB (bench/clustering.py)."""
NEIGHBOURS = 15
DIMENSIONS = 10
LEAST_SAMPLES = 5
"""HDBSCAN's default is the cluster size: with it raw data of 384 dimensions gave two clusters."""
LEAST_SIZE, LARGEST_LEAST_SIZE = 8, 25
BLOCK = 2048
"""Rows compared with all fitted vectors at once: 40 MB of cosines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """The clusters of n vectors: k of them, numbered from 0, and noise.

    `labels` (n,) int32 are the clusters, -1 for noise; `strengths` (n,) are 0..1, 0 for noise;
    `memberships` (n, k) are how far a vector belongs to each cluster: a row sums to at most 1.
    """

    labels: NDArray[np.int32]
    strengths: Vectors
    memberships: Vectors

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return int(self.memberships.shape[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """A fitted sample: its vectors, their places in few dimensions, and the clusters found."""

    sample: Vectors
    places: Vectors
    model: Any
    clustering: Clustering
    centroids: Vectors


def clusters(vectors: Vectors, *, seed: int, strata: Sequence[int] | None = None) -> Clustering:
    """Clusters vectors (n, d) of length 1; equal vectors, order and seed give equal clusters.

    Up to 5,000 vectors are fitted. Of more a sample is: each stratum (`strata` has a number for
    each vector) gets its share, and at least 25. The other vectors go to the nearest centroid where
    that is clear. Else `approximate_predict` places them at the mean of their nearest neighbours,
    weighted by likeness. (UMAP's own `transform` starts from that mean, then optimises for
    minutes.) Rows of zeros are noise; with fewer than 16 other rows, everything is.
    """
    nonzero = np.flatnonzero(vectors.any(axis=1))
    if len(nonzero) <= NEIGHBOURS:
        return _noise(len(vectors), 0)
    chance = np.random.default_rng(seed)
    kinds = np.zeros(len(nonzero), np.intp) if strata is None else np.asarray(strata)[nonzero]
    fitted = nonzero[_sampled(kinds, chance)]
    fit = _fit(vectors[fitted], seed)
    whole = _noise(len(vectors), fit.clustering.count)
    _copy_rows(whole, fitted, fit.clustering)
    if fit.clustering.count:
        for rows in _blocks(np.setdiff1d(nonzero, fitted)):
            _copy_rows(whole, rows, _assign_rest(vectors[rows], fit))
    return whole


def least_size(count: int) -> int:
    """The fewest vectors that make a cluster when `count` vectors are fitted."""
    return min(max(count // 100, LEAST_SIZE), LARGEST_LEAST_SIZE)


def centroids(vectors: Vectors, labels: NDArray[np.int32], count: int) -> Vectors:
    """Means of clusters 0..count-1, of length 1: (count, d)."""
    means = [centroid(vectors[labels == label]) for label in range(count)]
    return np.stack(means) if means else vectors[:0]


def softmax(cosines: Vectors) -> Vectors:
    """Weights of each row of cosines; a row sums to 1."""
    weights = np.exp((cosines - cosines.max(axis=1, keepdims=True)) / TEMPERATURE)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


def _sampled(strata: Indices, chance: np.random.Generator) -> Indices:
    """Sorted positions of about `MOST_FITTED` vectors: each stratum's share, but not too few."""
    if len(strata) <= MOST_FITTED:
        return np.arange(len(strata))
    share = MOST_FITTED / len(strata)
    chosen = []
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        # A stratum must be able to form a cluster, or a rare cause would be lost in the sample.
        size = min(len(members), max(round(share * len(members)), LARGEST_LEAST_SIZE))
        chosen.append(chance.choice(members, size, replace=False))
    return np.sort(np.concatenate(chosen))


def _fit(sample: Vectors, seed: int) -> _Fit:
    import hdbscan

    places = _embedding(sample, seed)
    model = hdbscan.HDBSCAN(
        min_cluster_size=least_size(len(sample)),
        min_samples=LEAST_SAMPLES,
        cluster_selection_method="eom",
        core_dist_n_jobs=1,
        prediction_data=True,
    ).fit(places)
    count = int(model.labels_.max()) + 1
    clustering = _noise(len(sample), count)
    if count:
        clustering = Clustering(
            labels=model.labels_.astype(np.int32),
            strengths=model.probabilities_.astype(np.float32),
            memberships=hdbscan.all_points_membership_vectors(model).astype(np.float32),
        )
    means = centroids(sample, clustering.labels, count)
    return _Fit(sample=sample, places=places, model=model, clustering=clustering, centroids=means)


def _embedding(sample: Vectors, seed: int) -> Vectors:
    """UMAP's embedding (n, 10), from exact neighbours: UMAP's own search takes long to compile."""
    import umap

    near, cosines = _neighbours(sample, sample, is_self=True)
    distances = np.maximum(1 - cosines, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed means one thread, that it cannot `transform`
        embedding = umap.UMAP(
            n_components=DIMENSIONS,
            n_neighbors=NEIGHBOURS,
            min_dist=0.0,
            metric="cosine",
            random_state=seed,
            n_jobs=1,
            precomputed_knn=(near, distances),
            force_approximation_algorithm=True,
        ).fit_transform(sample)
    return np.asarray(embedding, np.float32)


def _neighbours(
    vectors: Vectors, sample: Vectors, *, is_self: bool = False
) -> tuple[Indices, Vectors]:
    """Positions and cosines (n, 15) of the nearest vectors in the sample, nearest first.

    With `is_self` the vectors are the sample, and each is its own first neighbour, even where
    others equal it: UMAP expects that.
    """
    near, cosines = [], []
    for rows in _blocks(np.arange(len(vectors))):
        likeness = vectors[rows] @ sample.T
        if is_self:
            likeness[np.arange(len(rows)), rows] = 2  # above any cosine: sorts first
        some = np.argpartition(likeness, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]
        values = np.take_along_axis(likeness, some, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        near.append(np.take_along_axis(some, order, axis=1))
        cosines.append(np.minimum(np.take_along_axis(values, order, axis=1), 1))
    return np.concatenate(near), np.concatenate(cosines)


def _assign_rest(vectors: Vectors, fit: _Fit) -> Clustering:
    """Assigns vectors that were not fitted to the fitted clusters."""
    import hdbscan

    cosines = vectors @ fit.centroids.T
    memberships = softmax(cosines)
    labels = cosines.argmax(axis=1).astype(np.int32)
    strengths = memberships.max(axis=1)
    best = np.sort(cosines, axis=1)
    margin = best[:, -1] - best[:, -2] if fit.clustering.count > 1 else best[:, -1]
    # The same bounds as for a new record: see `assign`.
    doubtful = np.flatnonzero((best[:, -1] < LEAST_COSINE) | (margin < LEAST_MARGIN))
    if len(doubtful):
        near, likeness = _neighbours(vectors[doubtful], fit.sample)
        places = (fit.places[near] * softmax(likeness)[:, :, None]).sum(axis=1)
        labels[doubtful], strengths[doubtful] = hdbscan.approximate_predict(fit.model, places)
    return Clustering(labels=labels, strengths=strengths, memberships=memberships)


def _noise(count: int, clusters: int) -> Clustering:
    return Clustering(
        labels=np.full(count, -1, np.int32),
        strengths=np.zeros(count, np.float32),
        memberships=np.zeros((count, clusters), np.float32),
    )


def _copy_rows(whole: Clustering, rows: Indices, part: Clustering) -> None:
    whole.labels[rows] = part.labels
    whole.strengths[rows] = part.strengths
    whole.memberships[rows] = part.memberships


def _blocks(rows: Indices) -> Iterator[Indices]:
    return (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))
