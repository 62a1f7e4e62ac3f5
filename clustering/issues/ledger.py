"""The issues as they stand: one lock around what is known, and what is written of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from clustering.issues.book import IssueBook
from clustering.issues.verbs import Act, UnknownIssue, act
from ragvigil.store.issues import issues as stored

if TYPE_CHECKING:
    from ragvigil.model.clock import Clock
    from ragvigil.model.issue import Issue, IssueEvent, IssuePair, Membership
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_rows import KeptFailure

NANOS = 10**9


class IssueLedger:
    """For any number of threads. Nothing that takes long is done while the book is held."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._written = 0
        self._lock = RLock()
        self._book: IssueBook | None = None

    @contextmanager
    def held(self) -> Iterator[IssueBook]:
        """The book, for one thread at a time; read from the store at first. Raises StoreError."""
        with self._lock:
            if self._book is None:
                self._book = IssueBook.load(self._store)
            yield self._book

    def keep(
        self,
        *,
        failures: Iterable[KeptFailure] = (),
        members: Iterable[tuple[KeptFailure, Membership]] = (),
        events: Iterable[IssueEvent] = (),
        pairs: Iterable[IssuePair] = (),
        issues: Iterable[Issue] = (),
    ) -> None:
        """Stores these, then knows the issues so. Raises StoreError: then nothing is known."""
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
        with self.held() as book:
            if batch.rows:
                self._store.write(batch)
            book.put(issues)

    def next_nanos(self) -> int:
        """The present, later than at every call before: of two rows of an issue the later holds."""
        with self._lock:
            self._written = max(int(self._clock() * NANOS), self._written + 1)
            return self._written

    def act(self, issue_id: str, done: Act) -> Issue:
        """Does what a person says to one issue. Raises UnknownIssue or VerbDoesNotFit."""
        with self.held() as book:
            issue = book.get(issue_id)
            if issue is None:
                raise UnknownIssue(f"there is no issue {issue_id}")
            changed, event = act(issue, done)
            self.keep(events=[event], issues=[changed])
            return changed
