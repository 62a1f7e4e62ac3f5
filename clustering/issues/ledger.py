"""The issues in memory, and the one place that writes them: a lock around both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, TypeAlias

from clustering.issues.verbs import Act, UnknownIssue, act
from ragvigil.model.issue import Failure, Issue
from ragvigil.model.score import Layer
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import issues as stored
from ragvigil.store.issues import memberships

if TYPE_CHECKING:
    from ragvigil.model.clock import Clock
    from ragvigil.model.issue import IssueEvent, IssuePair, Membership
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_rows import KeptFailure

NANOS = 10**9
Family: TypeAlias = tuple[str, str, Layer]
MOST = 2000
"""Issues kept in memory, those with the newest members: 25 kB each with a centroid."""


def family_of(item: Issue | Failure) -> Family:
    """Service, environment and rubric family: only records and issues of one family compare."""
    return (item.service, item.environment, item.family)


class IssueIndex:
    """Issues by id and by family, merged ones included. Reads the store only in `load`."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        self._by_id = {issue.issue_id: issue for issue in issues}

    @classmethod
    def load(cls, store: Store) -> IssueIndex:
        """Reads the newest issues and counts their members again. Raises StoreError.

        A crash can leave an issue's count behind its memberships, which are written before it, or
        memberships can have expired. So the larger number is taken.
        """
        filter_ = stored.IssueFilter(with_merged=True, with_centroids=True, limit=MOST)
        members = memberships.member_counts(store)
        return cls(
            replace(issue, members=max(issue.members, members.get(issue.issue_id, 0)))
            for issue in stored.find(store, filter_, priority=Priority.TICK)
        )

    def __iter__(self) -> Iterator[Issue]:
        # A copy: callers write to the ledger, and so to this index, while they iterate.
        return iter(tuple(self._by_id.values()))

    def get(self, issue_id: str) -> Issue | None:
        """The issue of this id, merged or not."""
        return self._by_id.get(issue_id)

    def home(self, kept: KeptFailure) -> Issue | None:
        """The issue that a record is in now, through merges; None for none."""
        return self.through_merges(kept.membership.issue_id) if kept.membership else None

    def through_merges(self, issue_id: str) -> Issue | None:
        """The issue that has the members of this id now; None for no issue."""
        issue = self.get(issue_id)
        while issue is not None and issue.merged_into:
            issue = self.get(issue.merged_into)
        return issue

    def of(self, family: Family) -> list[Issue]:
        """The issues of one family that are not merged into another."""
        return [issue for issue in self if family_of(issue) == family and not issue.merged_into]

    def put(self, issues: Iterable[Issue]) -> None:
        """Adds issues, or replaces those of the same id."""
        self._by_id |= {issue.issue_id: issue for issue in issues}


class IssueLedger:
    """Reads and writes issues for any number of threads.

    Callers do nothing slow (models, the clustering process) while they hold the lock: people's
    verbs, which come on the API's threads, wait for it.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._written = 0
        # Reentrant: `keep` and `next_nanos` are called by callers that hold it.
        self._lock = RLock()
        self._index: IssueIndex | None = None

    @contextmanager
    def locked(self) -> Iterator[IssueIndex]:
        """The index, for one thread at a time; the first call loads it. Raises StoreError."""
        with self._lock:
            if self._index is None:
                self._index = IssueIndex.load(self._store)
            yield self._index

    def issues(self) -> list[Issue]:
        """All issues, without waiting for who holds the index; the first call loads it.

        Raises StoreError.
        """
        if self._index is None:
            with self.locked():
                pass
        # Issues are frozen, and `put` changes the index in one step.
        return list(self._index or ())

    def keep(
        self,
        *,
        failures: Iterable[KeptFailure] = (),
        members: Iterable[tuple[KeptFailure, Membership]] = (),
        events: Iterable[IssueEvent] = (),
        pairs: Iterable[IssuePair] = (),
        issues: Iterable[Issue] = (),
    ) -> None:
        """Writes these rows, then updates the index.

        Raises StoreError; the index is then unchanged, so that it never runs ahead of the store.
        """
        issues = tuple(issues)
        batch = stored.batch(
            self.next_nanos(),
            failures=failures,
            members=members,
            events=events,
            pairs=pairs,
            issues=issues,
            replica=self._store.replica,
            epoch=self._store.epoch,
        )
        with self.locked() as index:
            if batch.rows:
                self._store.write(batch)
            index.put(issues)

    def next_nanos(self) -> int:
        """A strictly increasing timestamp, near the present; the newest row of an issue wins."""
        with self._lock:
            self._written = max(int(self._clock() * NANOS), self._written + 1)
            return self._written

    def act(self, issue_id: str, done: Act) -> Issue:
        """Applies a person's verb to one issue. Raises UnknownIssue or VerbDoesNotFit."""
        with self.locked() as index:
            issue = index.get(issue_id)
            if issue is None:
                raise UnknownIssue(f"there is no issue {issue_id}")
            changed, event = act(issue, done)
            self.keep(events=[event], issues=[changed])
            return changed
