"""Issues by exact key, until there is enough to cluster. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from functools import reduce

from clustering.failures.masking import plain
from clustering.issues.background_rate import LEAST_MEMBERS
from clustering.issues.members import with_member
from ragvigil.model.identity import identity
from ragvigil.model.issue import Failure, FailureKind, Issue, IssueState, MemberBy, Membership
from ragvigil.model.score import Layer


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Key:
    """What the members of a provisional issue share.

    `rubric` is empty where a record failed by an error or a thumbs-down, which then is the label.
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
    """Failures by key: issues that were opened or grew, memberships, and the failures left over."""

    issues: tuple[Issue, ...] = ()
    memberships: tuple[Membership, ...] = ()
    waiting: tuple[Failure, ...] = ()


def group(
    failures: Iterable[Failure],
    issues: Iterable[Issue],
    is_above: Callable[[Sequence[Failure]], bool],
    now_unix_nano: int,
) -> KeyMatches:
    """Failures that are in no issue, new and waiting ones, into the provisional ones of their keys.

    A key without a provisional issue opens one from 3 records, where `is_above` says that they
    stand out from the background; once it is open it takes every record of its key. The order of
    the failures changes nothing. Centroids are left as they are.
    """
    provisional = [issue for issue in issues if issue.is_provisional and not issue.merged_into]
    oldest_last = sorted(provisional, key=lambda issue: -issue.opened_unix_nano)
    opened = {key_of_issue(issue): issue for issue in oldest_last}
    by_key: dict[Key, list[Failure]] = defaultdict(list)
    for failure in sorted(failures, key=lambda failure: (failure.time_unix_nano, failure.key)):
        by_key[key_of(failure)].append(failure)
    grown: list[Issue] = []
    memberships: list[Membership] = []
    waiting: list[Failure] = []
    for key, found in sorted(by_key.items()):
        issue = opened.get(key)
        if issue is None and (len(found) < LEAST_MEMBERS or not is_above(found)):
            waiting += found
            continue
        grown.append(reduce(with_member, found, issue or _opened(key, found, now_unix_nano)))
        memberships += [_membership(failure, grown[-1].issue_id) for failure in found]
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


def _opened(key: Key, found: Sequence[Failure], now_unix_nano: int) -> Issue:
    """An issue without members; its id is of its first record too, as a key can open another."""
    first = found[0]
    return Issue(
        issue_id=identity("provisional", *astuple(key), *first.key),
        service=key.service,
        environment=key.environment,
        family=key.family,
        rubric=key.rubric,
        label=key.label,
        name=_name(key, sorted({failure.route for failure in found})),
        state=IssueState.NEW,
        first_unix_nano=first.time_unix_nano,
        last_unix_nano=first.time_unix_nano,
        opened_unix_nano=now_unix_nano,
        state_unix_nano=now_unix_nano,
    )


def _name(key: Key, routes: Sequence[str]) -> str:
    said = ": ".join(filter(None, (key.rubric, plain(key.label))))
    more = f" and {len(routes) - 1} more" if len(routes) > 1 else ""
    return f"{said} ({routes[0]}{more})" if routes[0] else said


def _membership(failure: Failure, issue_id: str) -> Membership:
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=issue_id,
        by=MemberBy.KEY,
        strength=1.0,
    )
