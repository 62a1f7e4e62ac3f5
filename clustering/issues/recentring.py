"""Centroids of lasting issues after the embedding model changed, from the texts of members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from clustering.failures.embedding import joint_vectors
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_rows as failed

if TYPE_CHECKING:
    from clustering.failures.embedding import FailureEmbedder
    from ragvigil.model.issue import Issue
    from ragvigil.store.engine.store import Store

MEMBERS = 100
"""The newest members speak for an issue."""
A_TURN = 5


def recentred(
    store: Store, issues: Iterable[Issue], vectors: FailureEmbedder
) -> Iterator[tuple[Issue, Issue]]:
    """Some issues whose centroid is of another model than the present one, before and after.

    One whose members are all gone keeps what it has, and takes nobody. Raises StoreError.
    """
    from clustering.grouping.vectors import centroid

    model = vectors.model
    old = (
        issue
        for issue in issues
        if model and issue.centroid and issue.vector_model != model and not issue.merged_into
    )
    for issue in islice(old, A_TURN):
        wanted = failed.FailureFilter(issue_ids=(issue.issue_id,), newest_first=True, limit=MEMBERS)
        members = vectors.fill(failed.find(store, wanted, priority=Priority.TICK))
        if members:
            mean = tuple(centroid(joint_vectors(members)).tolist())
            yield issue, replace(issue, centroid=mean, vector_model=model)
