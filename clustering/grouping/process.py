"""Runs the clustering process for the periodic jobs: one at a time, failures counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from clustering import metrics
from ragvigil.inference.outcome import Unavailable

if TYPE_CHECKING:
    from clustering.grouping.cluster import Clustering
    from clustering.grouping.vectors import Vectors
    from clustering.settings import ClusteringSettings

SEED = 1
"""Fixed: the same vectors give the same clusters after a restart."""


class ClusteringChild:
    """A call takes minutes and runs alone. `folder` keeps compiled machine code between calls."""

    def __init__(self, settings: ClusteringSettings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._turn, self._stopping = Lock(), Event()

    def __call__(
        self, vectors: Vectors, strata: Sequence[int] | None = None
    ) -> Clustering | Unavailable:
        """Clusters vectors (n, d) as `clusters` of `grouping/cluster.py` does; counts failures.

        Blocks for minutes, and longer while another caller's process runs.
        """
        from clustering.grouping.child import cluster_in_child

        # Issues and topics share the process.
        with self._turn:
            result = cluster_in_child(
                vectors,
                seed=SEED,
                timeout_seconds=self._settings.child_seconds,
                memory_bytes=self._settings.child_bytes,
                compiled=self._folder,
                strata=strata,
                stopping=self._stopping,
            )
        if isinstance(result, Unavailable):
            metrics.CHILD_FAILURES.labels(result.reason).inc()
        return result

    def stop(self) -> None:
        """Ends the running process; a later call ends at once."""
        self._stopping.set()
