"""The clustering process returns clusters, or the reason why it has none."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from clustering.grouping.child import cluster_in_child
from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import Vectors
from ragvigil.inference.outcome import Reason, Unavailable
from tests.unit.clustering.vector_groups import groups

GB = 1 << 30


def clustered(vectors: Vectors, folder: Path, **more: Any) -> Clustering | Unavailable:
    # A niced child that compiles for 40 seconds may wait for minutes beside other tests.
    limits = {"timeout_seconds": 900.0, "memory_bytes": 2 * GB, "compiled": folder, "seed": 7}
    return cluster_in_child(vectors, **(limits | more))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Not imported here: that compiles for 20 seconds what the child compiles once more.
    if not (find_spec("hdbscan") and find_spec("umap")):
        pytest.skip("the extra `local` is not installed")
    return tmp_path_factory.mktemp("compiled")


@pytest.mark.slow
def test_a_child_answers_as_the_function_does_and_keeps_what_it_compiled(compiled: Path) -> None:
    result = clustered(groups([40, 30]), compiled, strata=[0] * 70)
    assert isinstance(result, Clustering)
    assert result.count == 2
    assert len(set(result.labels[:40].tolist())) == 1
    assert any(compiled.rglob("*.nbi"))


def test_a_child_that_takes_too_long_is_ended(compiled: Path) -> None:
    result = clustered(groups([40, 30]), compiled, timeout_seconds=0.1)
    assert result == Unavailable(reason=Reason.TIMED_OUT, detail="clustering took more than 0.1 s")


def test_a_child_that_takes_too_much_memory_is_ended(compiled: Path) -> None:
    result = clustered(groups([40, 30]), compiled, memory_bytes=20 << 20)
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.TOO_LARGE
    assert result.detail.endswith("more than the 20 MB it may")


def test_a_child_that_raises_says_what(compiled: Path) -> None:
    # It raises before the libraries are imported, which takes a niced child minutes beside others.
    result = clustered(groups([40]), compiled, strata=[0] * 3)
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.FAILED
    assert result.detail.startswith("clustering failed: IndexError: index 3 is out of bounds")


def test_a_child_is_ended_when_the_daemon_stops(compiled: Path) -> None:
    stopping = threading.Event()
    stopping.set()
    result = clustered(groups([40, 30]), compiled, stopping=stopping)
    assert result == Unavailable(reason=Reason.CLOSED, detail="the daemon is stopping")


def test_a_folder_that_cannot_be_made_is_told(compiled: Path) -> None:
    path = compiled / "a-file"
    path.touch()
    result = clustered(groups([40]), path / "below")
    assert isinstance(result, Unavailable)
    assert result.reason is Reason.CRASHED
