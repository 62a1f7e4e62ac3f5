"""Vectors that lie close together form a cluster."""

from __future__ import annotations

import numpy as np
import pytest

from clustering.grouping import cluster
from clustering.grouping.cluster import clusters, least_size
from tests.unit.clustering.vector_groups import DIMENSIONS, groups


@pytest.fixture(autouse=True)
def _needs_the_libraries() -> None:
    pytest.importorskip("hdbscan")
    pytest.importorskip("umap")


def test_each_group_is_a_cluster_and_its_rows_are_sure_of_it() -> None:
    clustering = clusters(groups([40, 30, 20]), seed=7)
    assert clustering.count == 3
    parts = [clustering.labels[:40], clustering.labels[40:70], clustering.labels[70:]]
    assert [len(set(part.tolist())) for part in parts] == [1, 1, 1]
    assert clustering.strengths.min() > 0.5
    assert (clustering.memberships.argmax(axis=1) == clustering.labels).all()
    assert clustering.memberships.sum(axis=1).max() <= 1 + 1e-5


def test_the_same_seed_gives_the_same_clusters() -> None:
    vectors = groups([40, 30], spread=0.3)
    first, other = (clusters(vectors, seed=3) for _ in range(2))
    assert (first.labels == other.labels).all()
    assert np.allclose(first.memberships, other.memberships)


def test_rows_of_zeros_are_noise() -> None:
    vectors = np.concatenate([np.zeros((5, DIMENSIONS), np.float32), groups([40, 30])])
    clustering = clusters(vectors, seed=7)
    assert clustering.labels[:5].tolist() == [-1] * 5
    assert clustering.strengths[:5].tolist() == [0] * 5
    assert clustering.count == 2


@pytest.mark.parametrize("count", [0, 1, 15])
def test_too_few_are_noise(count: int) -> None:
    clustering = clusters(groups([count]), seed=7)
    assert clustering.labels.tolist() == [-1] * count
    assert clustering.memberships.shape == (count, 0)


def test_what_was_not_fitted_goes_where_its_like_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "MOST_FITTED", 100)
    clustering = clusters(groups([400, 300, 30], spread=0.15), seed=7, strata=[0] * 700 + [1] * 30)
    assert clustering.count == 3
    for rows in (slice(0, 400), slice(400, 700), slice(700, 730)):
        own = np.bincount(clustering.labels[rows][clustering.labels[rows] >= 0])
        assert own.max() >= 0.97 * len(clustering.labels[rows])


def test_a_rare_stratum_is_fitted_with_25_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "MOST_FITTED", 100)
    strata = np.array([0] * 970 + [1] * 30)
    chosen = cluster._sampled(strata, np.random.default_rng(1))
    assert (strata[chosen] == 0).sum() == 97
    assert (strata[chosen] == 1).sum() == 25


@pytest.mark.parametrize(("count", "least"), [(60, 8), (1000, 10), (2500, 25), (5000, 25)])
def test_a_cluster_grows_with_what_is_clustered(count: int, least: int) -> None:
    assert least_size(count) == least
