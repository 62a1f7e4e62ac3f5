"""What clusters of records that are in no lasting issue become: parts of issues, or new ones. Pure.

The records are those of some days that no issue took by its centroid: in no issue, or in a
provisional one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from clustering.grouping.assign import MOST_OTHERS
from clustering.grouping.cluster import LEAST_SIZE, Clustering, Indices
from clustering.grouping.vectors import Vectors, centroid
from clustering.issues.candidate import Candidate, joined, nearest, opened, reasons, refined
from clustering.issues.members import assign_all
from ragvigil.model.issue import Failure, Issue, MemberBy, Membership

MOSTLY = 0.5
"""Share of a cluster's records, in one provisional issue, above which it refines that."""
CORE = 0.75
"""Cosine to its centroid that makes a record one of a cluster: above that of joining an issue
later, so that what opens is one cause."""
CONTRAST = 500
"""Reasons of other records from which a name is told apart."""

RecordKey = tuple[str, str]


class IsAbove(Protocol):
    """Whether a group of failures stands out from the background of its routes.

    `loose` of the failures that are in no issue are not counted as background: those in clusters.
    Else causes that came together would hide one another, each a background of the other.
    """

    def __call__(self, failures: Sequence[Failure], *, loose: int) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Residue:
    """Failures of one service, environment and family, with their joint vectors (n, d) in order.

    `held` are the provisional issues of the records that are in one; `issues` are all of the
    family by id, but for merged ones.
    """

    failures: Sequence[Failure]
    vectors: Vectors
    vector_model: str
    held: Mapping[RecordKey, str]
    issues: Mapping[str, Issue]

    def home(self, row: int) -> str:
        """The provisional issue that a record is in, empty for none that is known."""
        held = self.held.get(self.failures[row].key, "")
        return held if held in self.issues else ""

    def may_move(self, row: int, issue_id: str) -> bool:
        """Whether a record may go to an issue: a person's word on its present one keeps it."""
        home = self.home(row)
        return home in ("", issue_id) or not self.issues[home].is_triaged

    def in_time_order(self, rows: Sequence[int]) -> list[int]:
        """The rows by time, then by key."""
        return sorted(
            rows, key=lambda row: (self.failures[row].time_unix_nano, self.failures[row].key)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changes: issues that are new, were refined, or took or lost members; memberships.

    `released` are records of provisional issues which became clusters without them: they are in
    none now. A provisional issue whose records all went elsewhere is merged into where most went.
    """

    opened: tuple[Issue, ...] = ()
    refined: tuple[Issue, ...] = ()
    changed: tuple[Issue, ...] = ()
    memberships: tuple[Membership, ...] = ()
    released: tuple[RecordKey, ...] = ()


def reconcile(
    residue: Residue,
    clustering: Clustering,
    is_above: IsAbove,
    now_unix_nano: int,
) -> Changes:
    """What the clusters of `residue.vectors` become, largest first.

    A cluster whose centroid has a cosine of 0.85 to an issue joins it. Else the largest that is
    mostly of one provisional issue refines that, and the id stays. Else it is a new issue where
    `is_above` says that it stands out from the background; its id is of its earliest records.
    What is in no cluster then joins the issues by centroid, as if it came only now, or stays.
    Records of a provisional issue that a person has triaged leave it for no other.
    """
    issues = dict(residue.issues)
    said = reasons(residue.failures)
    refining = _refining(residue, clustering)
    above = partial(_is_above, is_above, _loose(residue, clustering))
    parts: dict[str, list[int]] = {}
    became: dict[int, str] = {}
    for cluster in np.argsort(-_sizes(clustering), kind="stable").tolist():
        own = issues.get(refining.get(cluster, ""))
        rows = _rows(residue, clustering, cluster, own)
        found = _become(_candidate(residue, rows, said), own, issues, above, now_unix_nano)
        if found is not None:
            issues[found.issue_id] = found
            became[cluster] = found.issue_id
            parts.setdefault(found.issue_id, []).extend(rows)
    memberships = [
        _membership(residue.failures[row], clustering, row, issue_id, became)
        for issue_id, rows in parts.items()
        for row in rows
    ]
    grown, assigned = _assigned(residue, issues, {membership.key for membership in memberships})
    return _summed(residue, grown, (*memberships, *assigned))


def _sizes(clustering: Clustering) -> Indices:
    return np.bincount(clustering.labels[clustering.labels >= 0], minlength=clustering.count)


def _refining(residue: Residue, clustering: Clustering) -> dict[int, str]:
    """Clusters that are mostly of a provisional issue, and its largest such: that issue."""
    homes = np.array([residue.home(row) for row in range(len(residue.failures))])
    largest: dict[str, tuple[int, int]] = {}
    for cluster, size in enumerate(_sizes(clustering).tolist()):
        if not size:
            continue  # its records left the residue meanwhile
        home, count = Counter(homes[clustering.labels == cluster].tolist()).most_common(1)[0]
        if home and count > MOSTLY * size:
            largest[home] = max(largest.get(home, (0, 0)), (count, -cluster))
    return {-negative: home for home, (_, negative) in largest.items()}


def _rows(residue: Residue, clustering: Clustering, cluster: int, own: Issue | None) -> list[int]:
    """The rows of a cluster that may be in one issue, in order of time; none where it is loose.

    Of few records HDBSCAN makes wide clusters of several causes, and noise lies at their edges: who
    is not near the cluster's centroid is not of it, and where too few are left, nobody is.
    """
    inside = np.flatnonzero(clustering.labels == cluster)
    if not len(inside):
        return []
    vectors = residue.vectors[inside]
    near = inside[vectors @ centroid(vectors) >= CORE].tolist()
    issue_id = own.issue_id if own else ""
    rows = [row for row in near if residue.may_move(row, issue_id)]
    return residue.in_time_order(rows) if len(near) >= LEAST_SIZE else []


def _candidate(residue: Residue, rows: Sequence[int], said: Sequence[str]) -> Candidate:
    own = set(rows)
    others = [reason for row, reason in enumerate(said) if row not in own]
    return Candidate(
        failures=[residue.failures[row] for row in rows],
        vectors=residue.vectors[rows],
        vector_model=residue.vector_model,
        others=others[:: 1 + len(others) // CONTRAST],
    )


def _loose(residue: Residue, clustering: Clustering) -> Counter[str]:
    """How many records in clusters are in no issue, by route."""
    rows = np.flatnonzero(clustering.labels >= 0).tolist()
    return Counter(residue.failures[row].route for row in rows if not residue.home(row))


def _is_above(is_above: IsAbove, loose: Counter[str], failures: Sequence[Failure]) -> bool:
    return is_above(failures, loose=sum(loose[route] for route in {f.route for f in failures}))


def _become(
    candidate: Candidate,
    own: Issue | None,
    issues: Mapping[str, Issue],
    is_above: Callable[[Sequence[Failure]], bool],
    now_unix_nano: int,
) -> Issue | None:
    """The issue that a cluster joins, refines or opens, as it is then; None for background."""
    if not candidate.failures:
        return None
    near = nearest(candidate, issues.values())
    if near is not None and not (own and own.is_triaged):
        return joined(near, candidate)
    if own is not None:
        return refined(own, candidate)
    return opened(candidate, now_unix_nano) if is_above(candidate.failures) else None


def _membership(
    failure: Failure,
    clustering: Clustering,
    row: int,
    issue_id: str,
    became: Mapping[int, str],
) -> Membership:
    """Of a record in a cluster; the others are issues that other clusters became."""
    soft: dict[str, float] = {}
    for cluster, other in became.items():
        if other != issue_id:
            soft[other] = soft.get(other, 0.0) + float(clustering.memberships[row, cluster])
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=issue_id,
        by=MemberBy.CLUSTERED,
        strength=float(clustering.strengths[row]),
        others=tuple(sorted(soft.items(), key=lambda item: (-item[1], item[0]))[:MOST_OTHERS]),
    )


def _assigned(
    residue: Residue, issues: Mapping[str, Issue], settled: Set[RecordKey]
) -> tuple[Mapping[str, Issue], list[Membership]]:
    """The issues after the records that no cluster took along came, and their memberships."""
    failures = residue.failures
    left = [row for row, failure in enumerate(failures) if failure.key not in settled]
    rows = residue.in_time_order([row for row in left if residue.may_move(row, "")])
    fitting = [issue for issue in issues.values() if issue.vector_model == residue.vector_model]
    found = assign_all([failures[row] for row in rows], residue.vectors[rows], fitting)
    grown = {issue.issue_id: issue for issue in found.issues}
    return {**issues, **grown}, [
        membership for membership in found.memberships if membership is not None
    ]


def _summed(
    residue: Residue, issues: Mapping[str, Issue], memberships: Sequence[Membership]
) -> Changes:
    """What changed; members are counted by who came and who left."""
    refined = {
        issue.issue_id
        for issue in residue.issues.values()
        if issue.is_provisional and not issues[issue.issue_id].is_provisional
    }
    goals = {membership.key: membership.issue_id for membership in memberships}
    released = [
        failure.key
        for row, failure in enumerate(residue.failures)
        if failure.key not in goals and residue.home(row) in refined and residue.may_move(row, "")
    ]
    goals |= dict.fromkeys(released, "")
    moves = Counter(
        (residue.home(row), goals[failure.key])
        for row, failure in enumerate(residue.failures)
        if failure.key in goals and goals[failure.key] != residue.home(row)
    )
    counted = [
        _counted(issue, residue.issues.get(issue.issue_id), moves) for issue in issues.values()
    ]
    return Changes(
        opened=tuple(issue for issue in counted if issue.issue_id not in residue.issues),
        refined=tuple(issue for issue in counted if issue.issue_id in refined),
        changed=tuple(
            issue
            for issue in counted
            if issue.issue_id not in refined
            and issue.issue_id in residue.issues
            and issue != residue.issues[issue.issue_id]
        ),
        memberships=tuple(memberships),
        released=tuple(released),
    )


def _counted(issue: Issue, before: Issue | None, moves: Mapping[tuple[str, str], int]) -> Issue:
    """The issue with its members; a provisional one that lost all is where most of them went."""
    came = sum(count for (_, goal), count in moves.items() if goal == issue.issue_id)
    left = Counter({goal: n for (home, goal), n in moves.items() if home == issue.issue_id})
    members = (before.members if before else 0) + came - left.total()
    goal = left.most_common(1)[0][0] if left and issue.is_provisional and members <= 0 else ""
    return replace(issue, members=max(members, 0), merged_into=goal)
