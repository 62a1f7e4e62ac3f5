"""Matches failing records to issues: by nearest centroid, else by a provisional issue's key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clustering.failures.embedding import joint_vectors
from clustering.issues.ledger import Family, family_of
from clustering.issues.members import with_member
from clustering.issues.provisional import Key, group, key_of, key_of_issue
from ragvigil.model.issue import Failure, Issue, IssueEvent, IssueVerb, MemberBy, Membership

if TYPE_CHECKING:
    from clustering.issues.ledger import IssueIndex
    from ragvigil.store.issues.failing_rows import KeptFailure

IsAbove = Callable[[Sequence[Failure]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Records with their new memberships, the issues that changed, and the events to write."""

    members: tuple[tuple[KeptFailure, Membership], ...] = ()
    issues: tuple[Issue, ...] = ()
    events: tuple[IssueEvent, ...] = ()

    def __add__(self, other: Placement) -> Placement:
        """Both; of an issue in both, the state of `other`."""
        latest = {issue.issue_id: issue for issue in (*self.issues, *other.issues)}
        return Placement(
            members=self.members + other.members,
            issues=tuple(latest.values()),
            events=self.events + other.events,
        )


def still_fits(kept: KeptFailure, index: IssueIndex, guarded: Mapping[str, str]) -> bool:
    """Whether a record whose failure changed still belongs to its issue.

    What a guard placed belongs there as long as it fails one that is still accepted: `guarded` are
    the ids of the issues, by the guard's rubric.
    """
    issue = index.home(kept)
    if issue is not None and issue.incident_id:
        return True
    if issue is not None and kept.membership and kept.membership.by is MemberBy.GUARD:
        return any(each is issue for each in _guarded_by(kept.failure, index, guarded))
    if issue is None or family_of(issue) != family_of(kept.failure):
        return False
    return not issue.is_provisional or key_of_issue(issue) == key_of(kept.failure)


def match_guards(
    kept: Iterable[KeptFailure], index: IssueIndex, guarded: Mapping[str, str]
) -> Placement:
    """Matches records that fail a guard to the issue that it guards: `guarded`, by rubric.

    Without it a resolved issue that comes back would be a new one, by the name of its guard.
    """
    members: list[tuple[KeptFailure, Membership]] = []
    grown: dict[str, Issue] = {}
    for record in kept:
        issue = next(_guarded_by(record.failure, index, guarded), None)
        if issue is not None:
            members.append((record, _by_guard(record, issue)))
            before = grown.get(issue.issue_id, issue)
            grown[issue.issue_id] = with_member(before, record.failure)
    return Placement(members=tuple(members), issues=tuple(grown.values()))


def _guarded_by(failure: Failure, index: IssueIndex, guarded: Mapping[str, str]) -> Iterator[Issue]:
    """The issues of the failure's service whose guards it fails, upstream first."""
    for name in failure.rubrics:
        issue = index.through_merges(guarded.get(name, ""))
        if issue is not None and _is_of(issue, failure):
            yield issue


def _is_of(issue: Issue, failure: Failure) -> bool:
    place = (failure.service, failure.environment)
    return (issue.service, issue.environment) == place


def _by_guard(record: KeptFailure, issue: Issue) -> Membership:
    return Membership(
        trace_id=record.failure.trace_id,
        record_id=record.failure.record_id,
        issue_id=issue.issue_id,
        by=MemberBy.GUARD,
        strength=1.0,
    )


def match_centroids(kept: Iterable[KeptFailure], index: IssueIndex, model: str) -> Placement:
    """Matches records with vectors of this model to clustered issues, in order of time."""
    placement = Placement()
    for family, records in _by_family(
        record for record in kept if record.vector_model == model
    ).items():
        candidates = [issue for issue in index.of(family) if issue.vector_model == model]
        if candidates:
            placement += _assigned(records, candidates)
    return placement


def _assigned(records: Sequence[KeptFailure], issues: Sequence[Issue]) -> Placement:
    from clustering.issues.members import assign_all

    matches = assign_all([record.failure for record in records], joint_vectors(records), issues)
    before = {issue.issue_id: issue for issue in issues}
    return Placement(
        members=tuple(
            (record, membership)
            for record, membership in zip(records, matches.memberships, strict=True)
            if membership is not None
        ),
        issues=tuple(issue for issue in matches.issues if issue is not before[issue.issue_id]),
    )


def match_keys(
    kept: Iterable[KeptFailure], index: IssueIndex, is_above: IsAbove, now: int
) -> Placement:
    """Matches records to provisional issues by key, and opens issues for keys that stand out.

    `now` is in nanoseconds.
    """
    placement = Placement()
    for family, records in _by_family(kept).items():
        by_key = {record.failure.key: record for record in records}
        matches = group((record.failure for record in records), index.of(family), is_above, now)
        placement += Placement(
            members=tuple(
                (by_key[membership.key], membership) for membership in matches.memberships
            ),
            issues=matches.issues,
            events=tuple(
                opening_event(issue, now)
                for issue in matches.issues
                if not index.get(issue.issue_id)
            ),
        )
    return placement


def open_keys(index: IssueIndex) -> set[Key]:
    """The keys that have an open provisional issue."""
    return {
        key_of_issue(issue) for issue in index if issue.is_provisional and not issue.merged_into
    }


def opening_event(issue: Issue, now_unix_nano: int) -> IssueEvent:
    """The event of a new issue."""
    return IssueEvent(
        issue_id=issue.issue_id,
        time_unix_nano=now_unix_nano,
        verb=IssueVerb.OPENED,
        text=f"{issue.members} members",
    )


def without_members(issue: Issue, members: int) -> Issue:
    """The issue after this many members left it."""
    return replace(issue, members=max(0, issue.members - members))


def _by_family(kept: Iterable[KeptFailure]) -> Mapping[Family, list[KeptFailure]]:
    by_family: dict[Family, list[KeptFailure]] = defaultdict(list)
    # In order of time: centroids move with each member (`assign_all`).
    for record in sorted(
        kept, key=lambda record: (record.failure.time_unix_nano, record.failure.key)
    ):
        by_family[family_of(record.failure)].append(record)
    return by_family
