"""Which issues are one, or several: proposed each night; merged and parted by people."""

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
SAID_AGAIN_AFTER = 7 * DAY
"""Seconds until an issue that may be several is said to be so once more."""
STAYING = 200
"""Members of an issue, the newest, whose mean is its centroid once another has left it."""


class MergeJob:
    """One turn at a time; `merge` and `unmerge` for whoever asks."""

    def __init__(self, store: Store, ledger: IssueLedger, days: int, cluster: Cluster) -> None:
        self._store, self._ledger, self._days, self._cluster = store, ledger, days, cluster

    def run(self, now: float, model: str) -> None:
        """Proposes merges, makes those that are sure, and says what may be several causes.

        Raises StoreError.
        """
        with self._ledger.locked() as index:
            lasting = {
                family_of(issue) for issue in index if issue.centroid and not issue.merged_into
            }
        for family in sorted(lasting):
            self._propose(family, now, model)

    def _propose(self, family: Family, now: float, model: str) -> None:
        service, environment, layer = family
        wanted = failed.FailureFilter(
            service=service,
            environment=environment,
            family=layer,
            since=max(0, int(now - self._days * DAY)),
            newest_first=True,
            limit=MOST,
        )
        found = failed.find(self._store, wanted, priority=Priority.SCAN)
        kept = [record for record in reversed(found) if record.vector_model == model]
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
            known = issues.pairs(self._store, priority=Priority.TICK)
            pairs = propose(clustering, homes, index.of(family), known, int(now * NANOS))
            for pair in pairs:
                self._take(pair, index, now)
        several = [
            split for split in splits(clustering, homes, vectors) if not self._was_said(split, now)
        ]
        with self._ledger.locked():
            self._ledger.keep(events=[_said(split, now) for split in several])

    def _was_said(self, split: Split, now: float) -> bool:
        return any(
            event.verb is IssueVerb.SPLIT
            and event.time_unix_nano > (now - SAID_AGAIN_AFTER) * NANOS
            for event in issues.events(self._store, split.issue_id)
        )

    def _take(self, pair: IssuePair, index: IssueIndex, now: float) -> None:
        """A sure pair is merged, unless one of both was merged a moment ago: then a person says."""
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
        """Makes two issues one and remembers it. Raises UnknownIssue or VerbDoesNotFit."""
        from clustering.issues.merges import merge

        with self._ledger.locked() as index, _fitting():
            issue, other = _known(index, one_id), _known(index, other_id)
            nanos = int(now * NANOS)
            kept, merged, events = merge(issue, other, time_unix_nano=nanos, actor=actor, text=text)
            sure = pair or _pair(kept, merged)
            decided = replace(sure, verdict=PairVerdict.MERGED, time_unix_nano=nanos, actor=actor)
            self._ledger.keep(events=events, pairs=[decided], issues=[kept, merged])
            return kept

    def unmerge(
        self, one_id: str, other_id: str, now: float, *, actor: str = "", text: str = ""
    ) -> Issue:
        """Parts an issue from the one it was merged into; of two that are not one, says so.

        `other_id` may be empty where the issue was merged. They are never proposed again. Raises
        UnknownIssue or VerbDoesNotFit.
        """
        from clustering.issues.merges import unmerge

        with self._ledger.locked() as index, _fitting():
            issue = _known(index, one_id)
            other = _known(index, other_id or issue.merged_into)
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

        wanted = failed.FailureFilter(issue_ids=(issue.issue_id,), newest_first=True, limit=STAYING)
        found = failed.find(self._store, wanted, priority=Priority.TICK)
        alike = [record for record in found if issue.vector_model == record.vector_model != ""]
        alike = failed.with_vectors(self._store, alike, issue.vector_model)
        return joint_vectors(alike) if alike else np.zeros((0, len(issue.centroid)), np.float32)


@contextmanager
def _fitting() -> Iterator[None]:
    """What cannot be merged is a verb that does not fit."""
    from clustering.issues.merges import MergeDoesNotFit

    try:
        yield
    except MergeDoesNotFit as error:
        raise VerbDoesNotFit(str(error)) from error


def _known(index: IssueIndex, issue_id: str) -> Issue:
    issue = index.get(issue_id)
    if issue is None:
        raise UnknownIssue(f"there is no issue {issue_id}")
    return issue


def _said(split: Split, now: float) -> IssueEvent:
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
