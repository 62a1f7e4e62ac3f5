"""Groups failures into provisional issues by exact key, until there is enough to cluster. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from functools import reduce

from clustering.issues.background_rate import LEAST_MEMBERS
from clustering.issues.members import with_member
from clustering.issues.names import name
from ragvigil.model.identity import identity
from ragvigil.model.issue import Failure, FailureKind, Issue, IssueState, MemberBy, Membership
from ragvigil.model.score import Layer


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Key:
    """What the members of a provisional issue share.

    For an error or a thumbs-down `rubric` is empty, and `label` is the kind of failure.
    """

    service: str
    environment: str
    family: Layer
    rubric: str
    label: str


def key_of(failure: Failure) -> Key:
    """The key of a failure."""
    by_rubric = failure.kind is FailureKind.RUBRIC
    return Key(
        service=failure.service,
        environment=failure.environment,
        family=failure.family,
        rubric=failure.rubric if by_rubric else "",
        label=failure.label if by_rubric else failure.kind.value,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMatches:
    """Issues that were opened or grew, the new memberships, and the failures that wait."""

    issues: tuple[Issue, ...] = ()
    memberships: tuple[Membership, ...] = ()
    waiting: tuple[Failure, ...] = ()


def group(
    failures: Iterable[Failure],
    issues: Iterable[Issue],
    is_above: Callable[[Sequence[Failure]], bool],
    now_unix_nano: int,
) -> KeyMatches:
    """Puts failures without an issue, new and waiting ones, into provisional issues by key.

    A key without an issue opens one from 3 records on, if `is_above` says that they exceed the
    background. An open issue gets every record of its key. The result does not depend on the order
    of the failures. Centroids do not move.
    """
    provisional = [issue for issue in issues if issue.is_provisional and not issue.merged_into]
    # Of several issues of one key the oldest is last, and so the one that the mapping keeps.
    oldest_last = sorted(provisional, key=lambda issue: -issue.opened_unix_nano)
    opened = {key_of_issue(issue): issue for issue in oldest_last}
    by_key: dict[Key, list[Failure]] = defaultdict(list)
    for failure in sorted(failures, key=lambda failure: (failure.time_unix_nano, failure.key)):
        by_key[key_of(failure)].append(failure)
    grown: list[Issue] = []
    memberships: list[Membership] = []
    waiting: list[Failure] = []
    for key, same in sorted(by_key.items()):
        issue = opened.get(key)
        if issue is None and (len(same) < LEAST_MEMBERS or not is_above(same)):
            waiting += same
            continue
        grown.append(reduce(with_member, same, issue or _opened(key, same, now_unix_nano)))
        memberships += [_membership(failure, grown[-1].issue_id) for failure in same]
    return KeyMatches(issues=tuple(grown), memberships=tuple(memberships), waiting=tuple(waiting))


def key_of_issue(issue: Issue) -> Key:
    """The key of a provisional issue."""
    return Key(
        service=issue.service,
        environment=issue.environment,
        family=issue.family,
        rubric=issue.rubric,
        label=issue.label,
    )


def _opened(key: Key, failures: Sequence[Failure], now_unix_nano: int) -> Issue:
    """An issue without members; its id holds the first record, as a key can open another later."""
    first = failures[0]
    return Issue(
        issue_id=identity("provisional", *astuple(key), *first.key),
        service=key.service,
        environment=key.environment,
        family=key.family,
        rubric=key.rubric,
        label=key.label,
        name=_name(key, failures),
        state=IssueState.NEW,
        first_unix_nano=first.time_unix_nano,
        last_unix_nano=first.time_unix_nano,
        opened_unix_nano=now_unix_nano,
        state_unix_nano=now_unix_nano,
    )


def _name(key: Key, failures: Sequence[Failure]) -> str:
    questions = [failure.question or "" for failure in failures]
    routes = sorted({failure.route for failure in failures})
    return name(key.rubric, key.label, questions, routes=routes)


def _membership(failure: Failure, issue_id: str) -> Membership:
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=issue_id,
        by=MemberBy.KEY,
        strength=1.0,
    )
