"""What fails outside of issues: kinds with their rates, groups for who asks, and no issue of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import Vectors
from clustering.issues.background_list import TooFew, groups, kinds
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as stored
from tests.failure_rows import MODEL, kept_failure
from tests.flow.test_api import keep, outcome
from tests.issues import NOW, failure, issue
from tests.issues import keep as keep_issues
from tests.outcomes import NOW as WRITTEN
from tests.outcomes import SECOND


def test_failures_in_no_issue_are_counted_by_kind_with_their_rate(store: Store) -> None:
    keep(store, [outcome(100 + n, NOW - 60) for n in range(50)], NOW - 30)
    keep_issues(store, [failure(n) for n in range(3)], issue("i1"))
    keep_issues(store, [failure(10 + n, inclusion_probability=0.1) for n in range(2)])
    other = {"rubric": "citation_validity", "label": "stitched"}
    old = [failure(20 + n, ago=3 * 86_400, **other) for n in range(3)]
    keep_issues(store, [failure(19, **other), *old])
    bars = {"groundedness": 0.5, "citation_validity": 1.0}
    first, second = kinds(store, NOW, 7, bars)
    assert (first.key.label, first.count.seen, round(first.count.about)) == ("contradicted", 2, 20)
    assert (first.answers, first.rate) == (50, 0.4)
    assert (second.key.label, second.count.seen, second.last_day) == ("stitched", 4, 1)
    assert second.name == "Answers put quotations together from several places · on /refunds"


def test_groups_are_made_for_who_asks_and_kept_nowhere(store: Store) -> None:
    reasons = ["the quote is of another chunk", "no such chunk"]
    kept = [
        kept_failure(n, reason=reasons[n % 2], question=f"How long does {n} take?")
        for n in range(30)
    ]
    store.write(stored.batch(WRITTEN, failures=kept))
    asked: list[int] = []

    def cluster(vectors: Vectors, _: Sequence[int] | None = None) -> Clustering:
        asked.append(len(vectors))
        labels = np.array([row % 2 if row < 28 else -1 for row in range(len(vectors))], np.int32)
        strengths = np.linspace(0.1, 1.0, len(vectors), dtype=np.float32)
        memberships = np.zeros((len(vectors), 2), np.float32)
        return Clustering(labels=labels, strengths=strengths, memberships=memberships)

    made = groups(store, cluster, MODEL, WRITTEN / SECOND + 60, 7)
    assert asked == [30]
    assert [group.failures for group in made] == [14, 14]
    assert all(len({row.failure.reason for row in group.examples}) == 1 for group in made)
    assert len(made[0].examples) == 3
    assert stored.find(store, stored.IssueFilter()) == []


def test_too_few_and_a_child_that_fails_are_said(store: Store) -> None:
    def cluster(*_: object) -> Unavailable:
        return Unavailable(reason=Reason.OFF, detail="it is off")

    now = WRITTEN / SECOND + 60
    with pytest.raises(TooFew, match="0 failing answers outside of issues have vectors"):
        groups(store, cluster, "", now, 7)
    store.write(stored.batch(WRITTEN, failures=[kept_failure(n) for n in range(30)]))
    with pytest.raises(TooFew, match=r"they could not be clustered: .*it is off"):
        groups(store, cluster, MODEL, now, 7)
