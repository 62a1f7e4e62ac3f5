"""Turns clusters of loose records into issues: joins, refines or opens them. Pure.

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
"""A cluster with more than this share of its records in one provisional issue refines that."""
CORE = 0.75
"""Least cosine of a record to its cluster's centroid: above that of joining an issue later, so that
a new issue is one cause."""
CONTRAST = 500
"""Reasons of other records, about, that a name is contrasted with."""

RecordKey = tuple[str, str]


class IsAbove(Protocol):
    """Whether a group of failures stands out from the background of its routes.

    `loose` is how many failures in no issue are in clusters, and so not counted as background.
    Else causes that came together would hide one another, each as background of the other.
    """

    def __call__(self, failures: Sequence[Failure], *, loose: int) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Residue:
    """Failures of one service, environment and family, with their joint vectors (n, d).

    `held` maps records to their provisional issues. `issues` are the family's issues by id, without
    merged ones.
    """

    failures: Sequence[Failure]
    vectors: Vectors
    vector_model: str
    held: Mapping[RecordKey, str]
    issues: Mapping[str, Issue]

    def home(self, row: int) -> str:
        """The provisional issue of a record; empty for none, or one that is not in memory."""
        issue_id = self.held.get(self.failures[row].key, "")
        return issue_id if issue_id in self.issues else ""

    def may_move(self, row: int, issue_id: str) -> bool:
        """Whether a record may go to an issue: it stays where a person has triaged its issue."""
        home = self.home(row)
        return home in ("", issue_id) or not self.issues[home].is_triaged

    def in_time_order(self, rows: Sequence[int]) -> list[int]:
        """The rows by time, then by key."""
        return sorted(
            rows, key=lambda row: (self.failures[row].time_unix_nano, self.failures[row].key)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Issues that are new, refined, or gained or lost members; and the new memberships.

    `released` are records of provisional issues that became clusters without them: they are in no
    issue now. A provisional issue that lost all records is merged into the issue that got most.
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
    """Decides what each cluster of `residue.vectors` becomes, largest first.

    A cluster whose centroid has a cosine of 0.85 to an issue joins it. Else, if most of its records
    are of one provisional issue, of which it is the largest such cluster, it refines that issue,
    which keeps its id. Else it opens an issue if `is_above` says that it exceeds the background.
    Records in no cluster then join issues by centroid, as new records do, or stay where they are.
    Records never leave a provisional issue that a person has triaged.
    """
    issues = dict(residue.issues)
    masked_reasons = reasons(residue.failures)
    refinements = _refinements(residue, clustering)
    above = partial(_is_above, is_above, _loose_by_route(residue, clustering))
    parts: dict[str, list[int]] = {}
    issue_of_cluster: dict[int, str] = {}
    # Largest first: a smaller cluster of the same cause then joins the issue that it opened.
    for cluster in np.argsort(-_sizes(clustering), kind="stable").tolist():
        own = issues.get(refinements.get(cluster, ""))
        rows = _core_rows(residue, clustering, cluster, own)
        candidate = _candidate(residue, rows, masked_reasons)
        issue = _apply(candidate, own, issues, above, now_unix_nano)
        if issue is not None:
            issues[issue.issue_id] = issue
            issue_of_cluster[cluster] = issue.issue_id
            parts.setdefault(issue.issue_id, []).extend(rows)
    memberships = [
        _membership(residue.failures[row], clustering, row, issue_id, issue_of_cluster)
        for issue_id, rows in parts.items()
        for row in rows
    ]
    grown, assigned = _assigned(residue, issues, {membership.key for membership in memberships})
    return _changes(residue, grown, (*memberships, *assigned))


def _sizes(clustering: Clustering) -> Indices:
    return np.bincount(clustering.labels[clustering.labels >= 0], minlength=clustering.count)


def _refinements(residue: Residue, clustering: Clustering) -> dict[int, str]:
    """Clusters that refine a provisional issue; of several for one issue, the largest."""
    homes = np.array([residue.home(row) for row in range(len(residue.failures))])
    largest: dict[str, tuple[int, int]] = {}
    for cluster, size in enumerate(_sizes(clustering).tolist()):
        if not size:
            continue  # its records left the residue meanwhile
        home, count = Counter(homes[clustering.labels == cluster].tolist()).most_common(1)[0]
        if home and count > MOSTLY * size:
            # Minus, so that `max` takes the first of equally large clusters.
            largest[home] = max(largest.get(home, (0, 0)), (count, -cluster))
    return {-negative: home for home, (_, negative) in largest.items()}


def _core_rows(
    residue: Residue, clustering: Clustering, cluster: int, own: Issue | None
) -> list[int]:
    """A cluster's core in order of time; empty where the cluster is too loose.

    Of few records HDBSCAN makes wide clusters of several causes, with noise at their edges. So this
    drops rows farther than CORE from the centroid, and rejects clusters with fewer than LEAST_SIZE
    left.
    """
    inside = np.flatnonzero(clustering.labels == cluster)
    if not len(inside):
        return []
    vectors = residue.vectors[inside]
    near = inside[vectors @ centroid(vectors) >= CORE].tolist()
    issue_id = own.issue_id if own else ""
    rows = [row for row in near if residue.may_move(row, issue_id)]
    # `near`, not `rows`: records that may not move count for the core, too.
    return residue.in_time_order(rows) if len(near) >= LEAST_SIZE else []


def _candidate(residue: Residue, rows: Sequence[int], masked_reasons: Sequence[str]) -> Candidate:
    own = set(rows)
    others = [reason for row, reason in enumerate(masked_reasons) if row not in own]
    return Candidate(
        failures=[residue.failures[row] for row in rows],
        vectors=residue.vectors[rows],
        vector_model=residue.vector_model,
        others=others[:: 1 + len(others) // CONTRAST],
    )


def _loose_by_route(residue: Residue, clustering: Clustering) -> Counter[str]:
    """Counts records that are in a cluster and in no issue, by route."""
    rows = np.flatnonzero(clustering.labels >= 0).tolist()
    return Counter(residue.failures[row].route for row in rows if not residue.home(row))


def _is_above(is_above: IsAbove, loose: Counter[str], failures: Sequence[Failure]) -> bool:
    return is_above(failures, loose=sum(loose[route] for route in {f.route for f in failures}))


def _apply(
    candidate: Candidate,
    own: Issue | None,
    issues: Mapping[str, Issue],
    is_above: Callable[[Sequence[Failure]], bool],
    now_unix_nano: int,
) -> Issue | None:
    """The issue that a cluster joins, refines or opens, afterwards; None for background."""
    if not candidate.failures:
        return None
    near = nearest(candidate, issues.values())
    # A person's issue stays: it is refined even where a clustered issue is near.
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
    issue_of_cluster: Mapping[int, str],
) -> Membership:
    """The membership of a clustered record; `others` are issues that other clusters became."""
    soft: dict[str, float] = {}
    for cluster, other in issue_of_cluster.items():
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
    """Assigns the records that no cluster took; the issues then, and the memberships."""
    failures = residue.failures
    unsettled = [row for row, failure in enumerate(failures) if failure.key not in settled]
    rows = residue.in_time_order([row for row in unsettled if residue.may_move(row, "")])
    fitting = [issue for issue in issues.values() if issue.vector_model == residue.vector_model]
    matches = assign_all([failures[row] for row in rows], residue.vectors[rows], fitting)
    grown = {issue.issue_id: issue for issue in matches.issues}
    return {**issues, **grown}, [
        membership for membership in matches.memberships if membership is not None
    ]


def _changes(
    residue: Residue, issues: Mapping[str, Issue], memberships: Sequence[Membership]
) -> Changes:
    """Sums up the changes; counts members by the records that came and left."""
    refined = {
        issue.issue_id
        for issue in residue.issues.values()
        if issue.is_provisional and not issues[issue.issue_id].is_provisional
    }
    # Where each record goes; "" is no issue.
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
    after = [
        _with_count(issue, residue.issues.get(issue.issue_id), moves) for issue in issues.values()
    ]
    return Changes(
        opened=tuple(issue for issue in after if issue.issue_id not in residue.issues),
        refined=tuple(issue for issue in after if issue.issue_id in refined),
        changed=tuple(
            issue
            for issue in after
            if issue.issue_id not in refined
            and issue.issue_id in residue.issues
            and issue != residue.issues[issue.issue_id]
        ),
        memberships=tuple(memberships),
        released=tuple(released),
    )


def _with_count(issue: Issue, before: Issue | None, moves: Mapping[tuple[str, str], int]) -> Issue:
    """The issue with its new count; a provisional one without members left becomes a redirect."""
    gains = sum(count for (_, goal), count in moves.items() if goal == issue.issue_id)
    losses = Counter({goal: n for (home, goal), n in moves.items() if home == issue.issue_id})
    members = (before.members if before else 0) + gains - losses.total()
    goal = losses.most_common(1)[0][0] if losses and issue.is_provisional and members <= 0 else ""
    return replace(issue, members=max(members, 0), merged_into=goal)
