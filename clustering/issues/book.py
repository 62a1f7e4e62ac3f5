"""The issues that are known, by the service, environment and rubric family they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ragvigil.model.issue import Failure, Issue
from ragvigil.model.score import Layer
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import issues, memberships

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_rows import KeptFailure

Family: TypeAlias = tuple[str, str, Layer]
MOST = 2000
"""Issues that are known at once, those with the newest members: 25 kB each with a centroid."""


def family_of(one: Issue | Failure) -> Family:
    """Service, environment, rubric family: what is compared with one another."""
    return (one.service, one.environment, one.family)


class IssueBook:
    """Issues by id, merged ones with them; in no need of the store once it is made."""

    def __init__(self, known: Iterable[Issue]) -> None:
        self._known = {one.issue_id: one for one in known}

    @classmethod
    def load(cls, store: Store) -> IssueBook:
        """What the store has, the members counted anew. Raises StoreError.

        Members are written before their issue, and forgotten before it: the larger number holds.
        """
        wanted = issues.IssueFilter(with_merged=True, with_centroids=True, limit=MOST)
        counted = memberships.counted(store)
        return cls(
            replace(one, members=max(one.members, counted.get(one.issue_id, 0)))
            for one in issues.find(store, wanted, priority=Priority.TICK)
        )

    def __iter__(self) -> Iterator[Issue]:
        return iter(tuple(self._known.values()))

    def get(self, issue_id: str) -> Issue | None:
        """The issue of this id, merged or not."""
        return self._known.get(issue_id)

    def home(self, kept: KeptFailure) -> Issue | None:
        """The issue that a record is in now, through merges; None for none."""
        issue = self.get(kept.membership.issue_id) if kept.membership else None
        while issue is not None and issue.merged_into:
            issue = self.get(issue.merged_into)
        return issue

    def of(self, family: Family) -> list[Issue]:
        """Issues of one family that are not merged into another."""
        return [one for one in self if family_of(one) == family and not one.merged_into]

    def put(self, changed: Iterable[Issue]) -> list[Issue]:
        """Takes issues over; those that are new or differ from what was known."""
        different = [one for one in changed if self._known.get(one.issue_id) is not one]
        self._known |= {one.issue_id: one for one in different}
        return different
