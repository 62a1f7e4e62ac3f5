"""The minute's turn: reads failing records that changed, embeds them, and puts them into issues.

Failures are stored before memberships. A turn that fails in between leaves records in no issue; the
next turn, like the first after a start, takes the newest of those up again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from clustering import metrics
from clustering.failures.change_feed import ChangeFeed, read_updates
from clustering.failures.primary_failure import fails_without_incident
from clustering.issues import matching
from clustering.issues.background_rate import LEAST_MEMBERS
from clustering.issues.failure_baseline import key_of_tally
from clustering.issues.incident_job import IncidentIssues, OpenIncidents
from clustering.issues.ledger import family_of
from clustering.issues.matching import Placement
from clustering.issues.provisional import Key, key_of, key_of_issue
from ragvigil.model.issue import Failure, MemberBy
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.store.issues.failing_rows import MemberOf as Where
from ragvigil.store.scores import accepted_rubrics

if TYPE_CHECKING:
    from clustering.failures.change_feed import FailureUpdates
    from clustering.failures.embedding import FailureEmbedder
    from clustering.issues.failure_baseline import FailureBaseline
    from clustering.issues.ledger import IssueIndex, IssueLedger
    from clustering.settings import ClusteringSettings
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key as RecordKey
    from ragvigil.store.issues.memberships import Tally

DAY, NANOS = 86_400, 10**9
UNKNOWN = "?"
"""The version of no model: with it every record lacks vectors."""
RETRY_GROWTH = 1.1
"""A key that did not stand out is tested again once its records grew by this factor."""
MOST_LOOSE = 5000
"""Newest records of a key that are read to open an issue; older ones join in later turns."""


class PlaceJob:
    """`run` is called by one thread. Calls `joined` with the records that came into an issue."""

    def __init__(
        self,
        store: Store,
        ledger: IssueLedger,
        vectors: FailureEmbedder,
        baseline: FailureBaseline,
        settings: ClusteringSettings,
        fails_below: Mapping[str, float],
        joined: Callable[[Sequence[Failure]], None],
    ) -> None:
        self._store, self._ledger, self._vectors = store, ledger, vectors
        self._baseline, self._settings, self._fails_below = baseline, settings, fails_below
        self._joined = joined
        self._feed = ChangeFeed(store, fails_below)
        self._incidents = IncidentIssues(store)
        # Records of each key when it was last tested in vain; lost with the process, tested again.
        self._refused: dict[Key, int] = {}
        self._withdrawn: set[str] = set()
        self._is_whole = False
        self.waiting = 0
        """Records of the last days without vectors of this model, as far as a turn reads them."""

    @property
    def pending(self) -> int | None:
        """Minutes whose changes are still to be read; None before the first turn."""
        return self._feed.pending

    def run(self, now: float) -> set[str]:
        """Ids of the issues that got members. Raises StoreError; the next turn then repeats it."""
        # False until this turn ends: an exception makes the next turn take up what is left over.
        takes_up, self._is_whole = not self._is_whole, False
        open_incidents = self._incidents.read(now)
        shown = (open_incidents.spikes, open_incidents.redrawn)
        guards = self._guards(now)
        changes = self._feed.take(now, self._settings.records, *shown)
        usual = self._baseline.usual(now)
        fresh = read_updates(self._store, changes, self._fails_below, usual, *shown)
        candidates = self._with_vectors(fresh, now)  # slow, so before the lock
        with self._ledger.locked() as index:
            self._leave(fresh, index, guards)
            self._ledger.keep(failures=candidates)
            loose = self._loose(candidates, index, guards)
            loose |= self._left_over(now) if takes_up else {}
            taken, grown = self._of_incidents(open_incidents, index, now)
            # What only an incident shows is of its issue, or of none.
            rest = [
                record
                for key, record in loose.items()
                if key not in taken and fails_without_incident(record.failure, self._fails_below)
            ]
            grown |= self._place(rest, index, guards, now)
        # Only now are the changes stored: `done` moves the checkpoint past them.
        if changes and not (fresh.failing or fresh.gone):
            self._feed.skip(changes)
        self._feed.done(now)
        self._is_whole = True
        metrics.PENDING_MINUTES.set(self._feed.pending or 0)
        return grown

    def _with_vectors(self, fresh: FailureUpdates, now: float) -> list[KeptFailure]:
        """Changed records, with vectors if the model answers, and older ones that got theirs."""
        filter_ = failed.FailureFilter(
            without_vectors_of=self._vectors.model or self._model_of_issues(),
            since=self._since(now),
            limit=self._settings.records,
        )
        older = failed.find(self._store, filter_, priority=Priority.TICK)
        gone = {change.key for change in fresh.gone}
        # Of a record in both, the changed one wins: it comes later.
        records = {
            record.key: record for record in (*older, *fresh.failing) if record.key not in gone
        }
        filled = self._vectors.fill(list(records.values())[: self._settings.records])
        with_vectors = {record.key: record for record in filled}
        self.waiting = len(records) - len(with_vectors)
        metrics.WAITING.set(self.waiting)
        return [with_vectors.pop(record.key, record) for record in fresh.failing] + list(
            with_vectors.values()
        )

    def _model_of_issues(self) -> str:
        """The model of stored issues: used until something was embedded since the start."""
        with self._ledger.locked() as index:
            return next((issue.vector_model for issue in index if issue.vector_model), UNKNOWN)

    def _leave(self, fresh: FailureUpdates, index: IssueIndex, guards: Mapping[str, str]) -> None:
        """Takes records that fail no more, or for another cause, out of their issues."""
        moved = [
            record
            for record in fresh.failing
            if record.membership and not matching.still_fits(record, index, guards)
        ]
        homes = [
            home
            for record in (*fresh.gone_failures, *moved)
            if (home := index.home(record)) is not None
        ]
        leavers = Counter(issue.issue_id for issue in homes)
        issues = [
            matching.without_members(issue, leavers[issue.issue_id])
            for issue in {issue.issue_id: issue for issue in homes}.values()
        ]
        self._ledger.keep(issues=issues)
        # Timestamps of their own, later than any before: the newest row of a record wins.
        failing.release(self._store, moved, self._ledger.next_nanos())
        failing.bury(self._store, fresh.gone, self._ledger.next_nanos())
        for record in fresh.gone_failures:
            metrics.FAILURES.labels(record.failure.family, "gone").inc()

    def _loose(
        self, candidates: Sequence[KeptFailure], index: IssueIndex, guards: Mapping[str, str]
    ) -> dict[RecordKey, KeptFailure]:
        """The candidates that are in no issue, or must leave theirs."""
        loose = {
            record.key: record
            for record in candidates
            if not matching.still_fits(record, index, guards)
        }
        for record in candidates:
            if record.key not in loose:
                metrics.FAILURES.labels(record.failure.family, "same").inc()
        return loose

    def _left_over(self, now: float) -> dict[RecordKey, KeptFailure]:
        """The newest records in no issue, with vectors: a turn failed before it placed them."""
        filter_ = failed.FailureFilter(
            placed=Where.LOOSE, since=self._since(now), newest_first=True, limit=MOST_LOOSE
        )
        rows = failed.find(self._store, filter_, priority=Priority.TICK)
        model = self._vectors.model
        alike = [record for record in rows if model and record.vector_model == model]
        with_vectors = failed.with_vectors(self._store, alike, model)
        others = [record for record in rows if not model or record.vector_model != model]
        return {record.key: record for record in (*others, *with_vectors)}

    def _of_incidents(
        self, open_incidents: OpenIncidents, index: IssueIndex, now: float
    ) -> tuple[set[RecordKey], set[str]]:
        """Before any other grouping; the records that are in issues of incidents now, and these."""
        placed = self._incidents.place(open_incidents.windows, index, now)
        self._keep(placed)
        for record, membership in placed.members:
            metrics.FAILURES.labels(record.failure.family, membership.by).inc()
        return {record.key for record, _ in placed.members}, {
            issue.issue_id for issue in placed.issues
        }

    def _place(
        self,
        loose: Sequence[KeptFailure],
        index: IssueIndex,
        guards: Mapping[str, str],
        now: float,
    ) -> set[str]:
        """By guard first, then by centroid; what no clustered issue took goes by key."""
        placed = matching.match_guards(loose, index, guards) if guards else Placement()
        self._keep(placed)
        settled = {record.key for record, _ in placed.members}
        near = [record for record in loose if record.key not in settled]
        by_centroid = matching.match_centroids(near, index, self._vectors.model)
        self._keep(by_centroid)
        placed += by_centroid
        settled = {record.key for record, _ in placed.members}
        rest = [record for record in loose if record.key not in settled]
        by_key = self._by_key(rest, index, now)
        self._keep(by_key)
        self._count(loose, placed + by_key)
        return {issue.issue_id for issue in (*placed.issues, *by_key.issues)}

    def _guards(self, now: float) -> dict[str, str]:
        """The issues that accepted rubrics guard, by the rubric's name.

        The minutes of what a guard placed are read again once it is withdrawn: most of these
        answers fail nothing else.
        """
        rubrics = accepted_rubrics.find(self._store, with_removed=True, priority=Priority.TICK)
        guards = {each.name: each.issue_id for each in rubrics if each.issue_id}
        live = {each.name for each in rubrics if not each.is_removed}
        # A rubric that another daemon removed is at work here until its bar is gone.
        gone = guards.keys() - live - self._fails_below.keys()
        for name in sorted(gone - self._withdrawn):
            self._feed.read_again(self._minutes_placed(guards[name], now))
        self._withdrawn = gone
        return {name: issue for name, issue in guards.items() if name in live}

    def _minutes_placed(self, issue_id: str, now: float) -> set[int]:
        """The minutes (seconds since the epoch) of the answers that guards put into an issue."""
        filter_ = failed.FailureFilter(
            issue_ids=(issue_id,), since=self._since(now), newest_first=True, limit=MOST_LOOSE
        )
        rows = failed.find(self._store, filter_, priority=Priority.TICK)
        return {
            row.failure.time_unix_nano // NANOS // 60 * 60
            for row in rows
            if row.membership and row.membership.by is MemberBy.GUARD
        }

    def _by_key(self, rest: Sequence[KeptFailure], index: IssueIndex, now: float) -> Placement:
        """Puts records into open provisional issues, and into those that can be opened now."""
        open_keys = matching.open_keys(index)
        new_keys = {key_of(record.failure) for record in rest} - open_keys
        counts = _counts(self._baseline.refresh(now)) if new_keys else Counter[Key]()
        tried = {
            key: counts[key]
            for key in sorted(new_keys)
            if counts[key] >= max(LEAST_MEMBERS, RETRY_GROWTH * self._refused.get(key, 0))
        }
        open_keys |= tried.keys()
        records = {record.key: record for key in tried for record in self._of_key(key, now)}
        records |= {record.key: record for record in rest if key_of(record.failure) in open_keys}
        together = Counter(
            (family_of(record.failure), record.failure.route) for record in records.values()
        )

        def is_above(failures: Sequence[Failure]) -> bool:
            """Keys tried together are not background of one another: they would hide each other."""
            routes = {(family_of(failure), failure.route) for failure in failures}
            return self._baseline.is_above(failures, loose=sum(together[route] for route in routes))

        placed = matching.match_keys(records.values(), index, is_above, int(now * NANOS))
        self._refused |= tried
        for issue in placed.issues:
            self._refused.pop(key_of_issue(issue), None)
        return placed

    def _of_key(self, key: Key, now: float) -> list[KeptFailure]:
        filter_ = failed.FailureFilter(
            service=key.service,
            environment=key.environment,
            family=key.family,
            rubric=key.rubric,
            placed=Where.LOOSE,
            since=self._since(now),
            newest_first=True,
            limit=MOST_LOOSE,
        )
        rows = failed.find(self._store, filter_, priority=Priority.TICK)
        return [record for record in rows if key_of(record.failure) == key]

    def _keep(self, placed: Placement) -> None:
        self._ledger.keep(members=placed.members, events=placed.events, issues=placed.issues)
        self._joined([record.failure for record, _ in placed.members])

    def _count(self, loose: Sequence[KeptFailure], placed: Placement) -> None:
        by = {record.key: membership.by for record, membership in placed.members}
        for record in loose:
            metrics.FAILURES.labels(record.failure.family, by.get(record.key, "loose")).inc()

    def _since(self, now: float) -> int:
        return max(0, int(now - self._settings.residue_days * DAY))


def _counts(loose: Sequence[Tally]) -> Counter[Key]:
    counts: Counter[Key] = Counter()
    for tally in loose:
        counts[key_of_tally(tally)] += tally.records
    return counts
