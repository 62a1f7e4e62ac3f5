"""The hour's turn: clusters what no clustered issue took, one service and family at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import structlog

from clustering import metrics
from clustering.failures.embedding import joint_vectors
from clustering.failures.primary_failure import fails_without_incident
from clustering.issues.ledger import Family, family_of
from clustering.issues.matching import opening_event
from clustering.issues.provisional import key_of
from ragvigil.inference.outcome import Unavailable
from ragvigil.model.issue import IssueEvent, IssueVerb
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues.failing_rows import KeptFailure, MemberOf

if TYPE_CHECKING:
    from clustering.grouping.cluster import Clustering
    from clustering.grouping.vectors import Vectors
    from clustering.issues.failure_baseline import FailureBaseline
    from clustering.issues.ledger import IssueIndex, IssueLedger
    from clustering.issues.reconcile import Changes
    from clustering.settings import ClusteringSettings
    from ragvigil.store.engine.store import Store

    Cluster: TypeAlias = Callable[[Vectors, Sequence[int]], Clustering | Unavailable]

log = structlog.get_logger()

HOUR, DAY, NANOS = 3600.0, 86_400, 10**9
MOST = 20_000
"""Newest records of one family that are clustered: 60 MB of vectors, and their texts."""


class ReclusterJob:
    """`run` is called by one thread. `cluster` may take minutes: the ledger is not locked then."""

    def __init__(
        self,
        store: Store,
        ledger: IssueLedger,
        baseline: FailureBaseline,
        settings: ClusteringSettings,
        fails_below: Mapping[str, float],
        cluster: Cluster,
    ) -> None:
        self._store, self._ledger, self._baseline = store, ledger, baseline
        self._settings, self._fails_below, self._cluster = settings, fails_below, cluster
        self._done: dict[Family, tuple[int, int]] = {}
        self._due: dict[Family, float] = {}
        self.why = ""
        """Why the last clustering failed, empty if it did not."""

    def run(self, now: float, model: str) -> None:
        """Clusters each family that has enough records, of which some are new, at most hourly.

        Raises StoreError.
        """
        for family in self._families(now):
            if now < self._due.get(family, 0.0):
                continue
            kept = self._residue(family, now, model)
            # Count and newest time: the same pair means the same records, clustered already.
            state = (len(kept), max((record.failure.time_unix_nano for record in kept), default=0))
            if len(kept) >= self._settings.residue_records and self._done.get(family) != state:
                # Set before the run: one that raises is not repeated within the hour either.
                self._due[family] = now + HOUR
                self._run(family, kept, now, model)
                self._done[family] = state if not self.why else (0, 0)

    def _families(self, now: float) -> list[Family]:
        loose = {
            (tally.service, tally.environment, tally.family)
            for tally in self._baseline.refresh(now)
        }
        with self._ledger.locked() as index:
            # Records in provisional issues are not loose, but are clustered too.
            loose |= {family_of(issue) for issue in index if issue.is_provisional}
        return sorted(loose)

    def _residue(self, family: Family, now: float, model: str) -> list[KeptFailure]:
        """Records in no clustered issue that fail without an incident, in order of time."""
        service, environment, layer = family
        filter_ = failed.FailureFilter(
            service=service,
            environment=environment,
            family=layer,
            placed=MemberOf.RESIDUE,
            since=max(0, int(now - self._settings.residue_days * DAY)),
            newest_first=True,
            limit=MOST,
        )
        rows = failed.find(self._store, filter_, priority=Priority.SCAN)
        return [
            record
            for record in reversed(rows)
            if record.vector_model == model
            and fails_without_incident(record.failure, self._fails_below)
        ]

    def _run(self, family: Family, kept: list[KeptFailure], now: float, model: str) -> None:
        kept = failed.with_vectors(self._store, kept, model)
        vectors = joint_vectors(kept)
        clustering = self._cluster(vectors, strata(kept))
        self.why = str(clustering) if isinstance(clustering, Unavailable) else ""
        if isinstance(clustering, Unavailable):
            log.warning("failing records could not be clustered", reason=self.why)
            return
        with self._ledger.locked() as index:
            # Clustering took minutes: records may have joined issues, or stopped failing, since.
            still = {record.key: record for record in self._residue(family, now, model)}
            rows = [row for row, record in enumerate(kept) if record.key in still]
            self._baseline.refresh(now)  # the background, too, is minutes old
            self._reconcile(
                [still[kept[row].key] for row in rows],
                vectors[rows],
                _of_rows(clustering, rows),
                index,
                now,
                model,
            )

    def _reconcile(
        self,
        kept: Sequence[KeptFailure],
        vectors: Vectors,
        clustering: Clustering,
        index: IssueIndex,
        now: float,
        model: str,
    ) -> None:
        from clustering.issues.reconcile import Residue, reconcile

        if not kept:
            return
        held = {record.key: record.membership.issue_id for record in kept if record.membership}
        residue = Residue(
            failures=[record.failure for record in kept],
            vectors=vectors,
            vector_model=model,
            held=held,
            issues={issue.issue_id: issue for issue in index.of(family_of(kept[0].failure))},
        )
        proposed = reconcile(residue, clustering, self._baseline.is_above, int(now * NANOS))
        self._write(proposed, {record.key: record for record in kept}, now)

    def _write(
        self, proposed: Changes, kept: Mapping[tuple[str, str], KeptFailure], now: float
    ) -> None:
        nanos = int(now * NANOS)
        released = [kept[key] for key in proposed.released]
        failing.release(self._store, released, self._ledger.next_nanos())
        self._ledger.keep(
            members=[(kept[membership.key], membership) for membership in proposed.memberships],
            events=_events(proposed, nanos),
            issues=(*proposed.opened, *proposed.refined, *proposed.changed),
        )
        for membership in proposed.memberships:
            metrics.FAILURES.labels(kept[membership.key].failure.family, membership.by).inc()
        log.info(
            "failing records clustered",
            opened=len(proposed.opened),
            refined=len(proposed.refined),
            members=len(proposed.memberships),
        )


def _events(proposed: Changes, now_unix_nano: int) -> list[IssueEvent]:
    refined = [
        IssueEvent(
            issue_id=issue.issue_id,
            time_unix_nano=now_unix_nano,
            verb=IssueVerb.REFINED,
            text=f"a cluster of {issue.members} members: {issue.name}",
        )
        for issue in proposed.refined
    ]
    merged = [
        IssueEvent(
            issue_id=issue.issue_id,
            time_unix_nano=now_unix_nano,
            verb=IssueVerb.MERGE,
            text=f"all its members went to {issue.merged_into}",
        )
        for issue in proposed.changed
        if issue.merged_into
    ]
    return [*(opening_event(issue, now_unix_nano) for issue in proposed.opened), *refined, *merged]


def strata(kept: Sequence[KeptFailure]) -> list[int]:
    """A number for each record by its key, so that a sample keeps records of rare keys."""
    places = {key: place for place, key in enumerate(sorted({key_of(o.failure) for o in kept}))}
    return [places[key_of(record.failure)] for record in kept]


def _of_rows(clustering: Clustering, rows: Sequence[int]) -> Clustering:
    """The clustering of some of the records; clusters may be empty."""
    from clustering.grouping.cluster import Clustering

    chosen = list(rows)
    return Clustering(
        labels=clustering.labels[chosen],
        strengths=clustering.strengths[chosen],
        memberships=clustering.memberships[chosen],
    )
