"""Runs issues: places failing records each minute, clusters the rest each hour, proposes merges
each night.

Models and the clustering process run without the ledger's lock, so people's verbs do not wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clustering import metrics
from clustering.failures.embedding import FailureEmbedder
from clustering.issues import background_list
from clustering.issues.ageing_job import AgeingJob
from clustering.issues.background_list import BackgroundGroup, BackgroundKind
from clustering.issues.failure_baseline import FailureBaseline
from clustering.issues.ledger import IssueLedger
from clustering.issues.merge_job import MergeJob
from clustering.issues.place_job import PlaceJob
from clustering.issues.recentring import recentred
from clustering.issues.recluster_job import ReclusterJob
from clustering.issues.verbs import Act
from ragvigil.model.issue import Failure, Issue, IssueVerb

if TYPE_CHECKING:
    from clustering.issues.recluster_job import Cluster
    from clustering.settings import ClusteringSettings
    from ragvigil.inference.process import Inference
    from ragvigil.model.clock import Clock
    from ragvigil.store.engine.store import Store


class IssueJob:
    """Three periodic jobs: `run`, `cluster`, `propose`. Calls `joined` with records that joined."""

    def __init__(
        self,
        store: Store,
        inference: Inference,
        settings: ClusteringSettings,
        fails_below: Mapping[str, float],
        cluster: Cluster,
        clock: Clock = time.time,
        joined: Callable[[Sequence[Failure]], None] = lambda _: None,
    ) -> None:
        self._store, self._clock = store, clock
        self._vectors = FailureEmbedder(inference)
        self._ledger = IssueLedger(store, clock)
        self._baseline = baseline = FailureBaseline(store, settings.residue_days, fails_below)
        self._placing = PlaceJob(
            store, self._ledger, self._vectors, baseline, settings, fails_below, joined
        )
        self._ageing = AgeingJob(store, baseline)
        self._clustering = ReclusterJob(
            store, self._ledger, baseline, settings, fails_below, cluster
        )
        self._merging = MergeJob(store, self._ledger, settings.residue_days, cluster)
        self._cluster, self._days = cluster, settings.residue_days
        self._fails_below = fails_below

    def run(self) -> None:
        """The minute's turn. Raises StoreError; the next turn continues from the store."""
        now = self._clock()
        with _timed("place"):
            grown = self._placing.run(now)
        with _timed("age"), self._ledger.locked() as index:
            changed, events = self._ageing.run(now, index, grown)
            self._ledger.keep(events=events, issues=changed)
        metrics.show_ungrouped(self._baseline.refresh(now))
        self._recentre()

    def cluster(self) -> None:
        """The hour's turn; takes minutes. Raises StoreError."""
        if self._vectors.model:
            with _timed("cluster"):
                self._clustering.run(self._clock(), self._vectors.model)

    def propose(self) -> None:
        """The night's turn; takes minutes. Raises StoreError."""
        if self._vectors.model:
            with _timed("propose"):
                self._merging.run(self._clock(), self._vectors.model)

    @property
    def pending_minutes(self) -> int | None:
        """Minutes of traffic whose changes are still to be read; None before the first turn."""
        return self._placing.pending

    def issues(self) -> list[Issue]:
        """All issues in memory, merged ones included. Raises StoreError."""
        return self._ledger.issues()

    def act(
        self,
        issue_id: str,
        verb: IssueVerb,
        actor: str = "",
        text: str = "",
        *,
        until: float = 0.0,
        count: int = 0,
        release: str = "",
        name: str = "",
        other: str = "",
    ) -> Issue:
        """Applies a person's verb; `other` is the issue to merge with, or to keep apart for good.

        Raises UnknownIssue or VerbDoesNotFit.
        """
        now = self._clock()
        if verb is IssueVerb.MERGE:
            return self._merging.merge(issue_id, other, now, actor=actor, text=text)
        if verb is IssueVerb.UNMERGE:
            return self._merging.unmerge(issue_id, other, now, actor=actor, text=text)
        done = Act(
            verb=verb,
            now=now,
            actor=actor,
            text=text,
            until=until,
            count=count,
            release=release,
            name=name,
        )
        return self._ledger.act(issue_id, done)

    def background(self) -> list[BackgroundKind]:
        """What fails outside of issues, by kind, the most first. Raises StoreError."""
        return background_list.kinds(self._store, self._clock(), self._days, self._fails_below)

    def background_groups(self) -> list[BackgroundGroup]:
        """The failures outside of issues, clustered now; nothing of it is kept. Takes seconds.

        Raises TooFew, StoreError.
        """
        model, now = self._vectors.model, self._clock()
        return background_list.groups(self._store, self._cluster, model, now, self._days)

    def status(self) -> dict[str, object]:
        """The state of the periodic jobs, for the status page."""
        return {
            "pending_minutes": self.pending_minutes,
            "waiting_for_vectors": self._placing.waiting,
            "no_vectors": self._vectors.why,
            "no_clusters": self._clustering.why,
        }

    def _recentre(self) -> None:
        """Recomputes centroids of an earlier model, a few a turn; embeds without the lock."""
        for before, after in recentred(self._store, self.issues(), self._vectors):
            with self._ledger.locked() as index:
                # Changed meanwhile, by a person or a new member: the next turn does it again.
                if index.get(before.issue_id) is before:
                    self._ledger.keep(issues=[after])


@contextmanager
def _timed(step: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        metrics.SECONDS.labels(step).observe(time.perf_counter() - started)
