"""The process that clusters, as the duties see it: vectors in, clusters or a reason out."""

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


class ClusteringChild:
    """One process at a time, whoever asks; a call takes minutes. `folder` keeps machine code."""

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

        with self._turn:
            found = cluster_in_child(
                vectors,
                seed=SEED,
                timeout_seconds=self._settings.child_seconds,
                memory_bytes=self._settings.child_bytes,
                compiled=self._folder,
                strata=strata,
                stopping=self._stopping,
            )
        if isinstance(found, Unavailable):
            metrics.CHILD_FAILURES.labels(found.reason).inc()
        return found

    def stop(self) -> None:
        """Ends the process that runs, and every one to come at once."""
        self._stopping.set()
