"""Failing records into issues: by the nearest centroid, else by the key of a provisional issue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clustering.failures.embedding import joint_vectors
from clustering.issues.ledger import Family, family_of
from clustering.issues.provisional import Key, group, key_of, key_of_issue
from ragvigil.model.issue import Failure, Issue, IssueEvent, IssueVerb, Membership

if TYPE_CHECKING:
    from clustering.issues.ledger import IssueIndex
    from ragvigil.store.issues.failing_rows import KeptFailure

IsAbove = Callable[[Sequence[Failure]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Records with the issue that each joined, the issues as they are then, and what happened."""

    members: tuple[tuple[KeptFailure, Membership], ...] = ()
    issues: tuple[Issue, ...] = ()
    events: tuple[IssueEvent, ...] = ()

    def __add__(self, other: Placement) -> Placement:
        """Both; of an issue the later one holds."""
        known = {one.issue_id: one for one in (*self.issues, *other.issues)}
        return Placement(
            members=self.members + other.members,
            issues=tuple(known.values()),
            events=self.events + other.events,
        )


def still_fits(kept: KeptFailure, index: IssueIndex) -> bool:
    """Whether a record that fails otherwise than before still belongs where it is."""
    issue = index.home(kept)
    if issue is None or family_of(issue) != family_of(kept.failure):
        return False
    return not issue.is_provisional or key_of_issue(issue) == key_of(kept.failure)


def match_centroids(kept: Iterable[KeptFailure], index: IssueIndex, model: str) -> Placement:
    """Records with vectors of this model to lasting issues, in order of time."""
    placed = Placement()
    for family, several in _by_family(one for one in kept if one.vector_model == model).items():
        found = [one for one in index.of(family) if one.vector_model == model]
        if found:
            placed += _assigned(several, found)
    return placed


def _assigned(several: Sequence[KeptFailure], issues: Sequence[Issue]) -> Placement:
    from clustering.issues.members import assign_all

    found = assign_all([one.failure for one in several], joint_vectors(several), issues)
    known = {one.issue_id: one for one in issues}
    return Placement(
        members=tuple(
            (one, membership)
            for one, membership in zip(several, found.memberships, strict=True)
            if membership is not None
        ),
        issues=tuple(one for one in found.issues if one is not known[one.issue_id]),
    )


def match_keys(
    kept: Iterable[KeptFailure], index: IssueIndex, is_above: IsAbove, now: int
) -> Placement:
    """Records to provisional issues of their keys; opens those that stand out. `now` in nanos."""
    placed = Placement()
    for family, several in _by_family(kept).items():
        known = {one.failure.key: one for one in several}
        found = group((one.failure for one in several), index.of(family), is_above, now)
        placed += Placement(
            members=tuple((known[one.key], one) for one in found.memberships),
            issues=found.issues,
            events=tuple(
                opening_event(one, now) for one in found.issues if not index.get(one.issue_id)
            ),
        )
    return placed


def open_keys(index: IssueIndex) -> set[Key]:
    """The keys that have a provisional issue."""
    return {key_of_issue(one) for one in index if one.is_provisional and not one.merged_into}


def opening_event(issue: Issue, now_unix_nano: int) -> IssueEvent:
    """What is written of a new issue."""
    return IssueEvent(
        issue_id=issue.issue_id,
        time_unix_nano=now_unix_nano,
        verb=IssueVerb.OPENED,
        text=f"{issue.members} members",
    )


def without_members(issue: Issue, members: int) -> Issue:
    """The issue after so many members left it."""
    return replace(issue, members=max(0, issue.members - members))


def _by_family(kept: Iterable[KeptFailure]) -> Mapping[Family, list[KeptFailure]]:
    found: dict[Family, list[KeptFailure]] = defaultdict(list)
    for one in sorted(kept, key=lambda one: (one.failure.time_unix_nano, one.failure.key)):
        found[family_of(one.failure)].append(one)
    return found
