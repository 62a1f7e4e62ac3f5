"""Proposes merges and splits of issues each night; merges and parts issues for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from clustering.failures.embedding import joint_vectors
from clustering.issues.ledger import Family, family_of
from clustering.issues.recluster_job import strata
from clustering.issues.verbs import UnknownIssue, VerbDoesNotFit
from ragvigil.inference.outcome import Unavailable
from ragvigil.model.issue import Issue, IssueEvent, IssuePair, IssueVerb, PairVerdict
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues

if TYPE_CHECKING:
    from clustering.grouping.cluster import Clustering
    from clustering.grouping.vectors import Vectors
    from clustering.issues.ledger import IssueIndex, IssueLedger
    from clustering.issues.merges import Split
    from clustering.issues.recluster_job import Cluster
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_rows import KeptFailure

log = structlog.get_logger()

DAY, NANOS = 86_400, 10**9
MOST = 20_000
"""Newest records of a family that are clustered again."""
REPEATED_AFTER = 7 * DAY
"""Seconds after which a possible split is reported again."""
STAYING = 200
"""After an unmerge the centroid is the mean of this many of the newest members that stay."""


class MergeJob:
    """`run` is called by one thread; `merge` and `unmerge` by any, and may come between."""

    def __init__(self, store: Store, ledger: IssueLedger, days: int, cluster: Cluster) -> None:
        self._store, self._ledger, self._days, self._cluster = store, ledger, days, cluster

    def run(self, now: float, model: str) -> None:
        """Proposes merges, makes the sure ones, and reports issues that may be several causes.

        Only records with vectors of `model` count. Raises StoreError.
        """
        with self._ledger.locked() as index:
            families = {
                family_of(issue) for issue in index if issue.centroid and not issue.merged_into
            }
        for family in sorted(families):
            self._propose(family, now, model)

    def _propose(self, family: Family, now: float, model: str) -> None:
        service, environment, layer = family
        filter_ = failed.FailureFilter(
            service=service,
            environment=environment,
            family=layer,
            since=max(0, int(now - self._days * DAY)),
            newest_first=True,
            limit=MOST,
        )
        rows = failed.find(self._store, filter_, priority=Priority.SCAN)
        kept = [record for record in reversed(rows) if record.vector_model == model]
        kept = failed.with_vectors(self._store, kept, model)
        if not kept:
            return
        vectors = joint_vectors(kept)
        clustering = self._cluster(vectors, strata(kept))
        if isinstance(clustering, Unavailable):
            log.warning("no merges could be proposed", reason=str(clustering))
            return
        self._decide(family, kept, vectors, clustering, now)

    def _decide(
        self,
        family: Family,
        kept: list[KeptFailure],
        vectors: Vectors,
        clustering: Clustering,
        now: float,
    ) -> None:
        from clustering.issues.merges import propose, splits

        with self._ledger.locked() as index:
            homes = [home.issue_id if (home := index.home(record)) else "" for record in kept]
            pairs_before = issues.pairs(self._store, priority=Priority.TICK)
            pairs = propose(clustering, homes, index.of(family), pairs_before, int(now * NANOS))
            for pair in pairs:
                self._apply(pair, index, now)
        # Outside the lock: this compares vectors and reads the events of each issue.
        possible_splits = [
            split
            for split in splits(clustering, homes, vectors)
            if not self._is_reported(split, now)
        ]
        with self._ledger.locked():
            self._ledger.keep(events=[_split_event(split, now) for split in possible_splits])

    def _is_reported(self, split: Split, now: float) -> bool:
        return any(
            event.verb is IssueVerb.SPLIT and event.time_unix_nano > (now - REPEATED_AFTER) * NANOS
            for event in issues.events(self._store, split.issue_id)
        )

    def _apply(self, pair: IssuePair, index: IssueIndex, now: float) -> None:
        """Merges a sure pair and stores others as proposals; skips issues merged meanwhile."""
        issue, other = index.get(pair.kept), index.get(pair.merged)
        is_free = issue and other and not (issue.merged_into or other.merged_into)
        if pair.verdict is PairVerdict.MERGED and is_free:
            self.merge(pair.kept, pair.merged, now, pair=pair)
        elif is_free:
            self._ledger.keep(pairs=[replace(pair, verdict=PairVerdict.PROPOSED)])

    def merge(
        self,
        one_id: str,
        other_id: str,
        now: float,
        *,
        actor: str = "",
        text: str = "",
        pair: IssuePair | None = None,
    ) -> Issue:
        """Merges two issues and stores the pair. Raises UnknownIssue or VerbDoesNotFit."""
        from clustering.issues.merges import merge

        with self._ledger.locked() as index, _verb_errors():
            issue, other = _known_issue(index, one_id), _known_issue(index, other_id)
            nanos = int(now * NANOS)
            kept, merged, events = merge(issue, other, time_unix_nano=nanos, actor=actor, text=text)
            sure = pair or _pair(kept, merged)
            decided = replace(sure, verdict=PairVerdict.MERGED, time_unix_nano=nanos, actor=actor)
            self._ledger.keep(events=events, pairs=[decided], issues=[kept, merged])
            return kept

    def unmerge(
        self, one_id: str, other_id: str, now: float, *, actor: str = "", text: str = ""
    ) -> Issue:
        """Parts an issue from the one it was merged into, or marks two issues as different.

        `other_id` may be empty for a merged issue. The pair is never proposed again. Raises
        UnknownIssue or VerbDoesNotFit.
        """
        from clustering.issues.merges import unmerge

        with self._ledger.locked() as index, _verb_errors():
            issue = _known_issue(index, one_id)
            other = _known_issue(index, other_id or issue.merged_into)
            # Either of the two may be named first.
            if issue.merged_into != other.issue_id and other.merged_into == issue.issue_id:
                issue, other = other, issue
            apart = _apart(other, issue, actor, int(now * NANOS))
            if not issue.merged_into:
                self._ledger.keep(pairs=[apart])
                return issue
            staying = self._vectors_of(other)
            kept, parted, events = unmerge(
                other, issue, staying, time_unix_nano=int(now * NANOS), actor=actor, text=text
            )
            self._ledger.keep(events=events, pairs=[apart], issues=[kept, parted])
            return parted

    def _vectors_of(self, issue: Issue) -> Vectors:
        """Joint vectors of the newest members of the issue itself."""
        import numpy as np

        filter_ = failed.FailureFilter(
            issue_ids=(issue.issue_id,), newest_first=True, limit=STAYING
        )
        rows = failed.find(self._store, filter_, priority=Priority.TICK)
        alike = [record for record in rows if issue.vector_model == record.vector_model != ""]
        alike = failed.with_vectors(self._store, alike, issue.vector_model)
        return joint_vectors(alike) if alike else np.zeros((0, len(issue.centroid)), np.float32)


@contextmanager
def _verb_errors() -> Iterator[None]:
    """Raises MergeDoesNotFit as VerbDoesNotFit, which callers of verbs expect."""
    from clustering.issues.merges import MergeDoesNotFit

    try:
        yield
    except MergeDoesNotFit as error:
        raise VerbDoesNotFit(str(error)) from error


def _known_issue(index: IssueIndex, issue_id: str) -> Issue:
    issue = index.get(issue_id)
    if issue is None:
        raise UnknownIssue(f"there is no issue {issue_id}")
    return issue


def _split_event(split: Split, now: float) -> IssueEvent:
    parts = ", ".join(map(str, split.parts))
    return IssueEvent(
        issue_id=split.issue_id,
        time_unix_nano=int(now * NANOS),
        verb=IssueVerb.SPLIT,
        text=f"may be {len(split.parts)} causes: groups of {parts} members are unlike",
    )


def _pair(issue: Issue, other: Issue) -> IssuePair:
    from clustering.issues.merges import older_first

    kept, merged = older_first(issue, other)
    alike = kept.centroid and len(kept.centroid) == len(merged.centroid)
    likeness = (
        sum(a * b for a, b in zip(kept.centroid, merged.centroid, strict=True)) if alike else 0.0
    )
    return IssuePair(
        kept=kept.issue_id,
        merged=merged.issue_id,
        verdict=PairVerdict.PROPOSED,
        likeness=likeness,
        shared=0.0,
        time_unix_nano=0,
    )


def _apart(issue: Issue, other: Issue, actor: str, now: int) -> IssuePair:
    return replace(_pair(issue, other), verdict=PairVerdict.APART, time_unix_nano=now, actor=actor)
