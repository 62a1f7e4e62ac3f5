"""Recomputes issues' centroids after the embedding model changed, from their members' texts."""

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
"""An issue's new centroid is the mean of this many of its newest members."""
A_TURN = 5
"""Issues of one turn, whose members are all embedded again."""


def recentred(
    store: Store, issues: Iterable[Issue], vectors: FailureEmbedder
) -> Iterator[tuple[Issue, Issue]]:
    """Up to A_TURN issues whose centroid is of another model, before and after. Raises StoreError.

    An issue whose members are all gone keeps its old centroid and gets no members.
    """
    from clustering.grouping.vectors import centroid

    model = vectors.model
    outdated = (
        issue
        for issue in issues
        if model and issue.centroid and issue.vector_model != model and not issue.merged_into
    )
    for issue in islice(outdated, A_TURN):
        filter_ = failed.FailureFilter(
            issue_ids=(issue.issue_id,), newest_first=True, limit=MEMBERS
        )
        members = vectors.fill(failed.find(store, filter_, priority=Priority.TICK))
        if members:
            mean = tuple(centroid(joint_vectors(members)).tolist())
            yield issue, replace(issue, centroid=mean, vector_model=model)
