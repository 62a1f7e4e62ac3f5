"""Adds new failing records to the issues with the nearest centroids. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clustering.grouping.assign import Assignment, assign
from clustering.grouping.vectors import Vectors, moved
from ragvigil.model.issue import Failure, Issue, MemberBy, Membership


def with_member(issue: Issue, failure: Failure) -> Issue:
    """The issue with this failure as a further member; its centroid does not move."""
    return replace(
        issue,
        members=issue.members + 1,
        first_unix_nano=min(issue.first_unix_nano, failure.time_unix_nano),
        last_unix_nano=max(issue.last_unix_nano, failure.time_unix_nano),
        routes=tuple(sorted({*issue.routes, failure.route})),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidMatches:
    """For each record a membership or None, and the issues with their new members."""

    memberships: tuple[Membership | None, ...]
    issues: tuple[Issue, ...]


def assign_all(
    failures: Sequence[Failure], vectors: Vectors, issues: Sequence[Issue]
) -> CentroidMatches:
    """Assigns failures of one service, environment and family to its issues, one by one.

    `vectors` (n, d) and `failures` are in order of time. A centroid moves with each member, so the
    result is the same however the records are split into calls. Provisional issues, merged ones
    and those without a centroid get no members. Callers leave out issues of another vector model.
    """
    open_places = [place for place, issue in enumerate(issues) if _is_open(issue)]
    changed = list(issues)
    ids = [issues[place].issue_id for place in open_places]
    centroids = np.array([issues[place].centroid for place in open_places], dtype=np.float32)
    memberships: list[Membership | None] = []
    for failure, vector in zip(failures, vectors, strict=True):
        assignment = assign(vector, centroids) if open_places else None
        if assignment is None:
            memberships.append(None)
            continue
        row = assignment.place
        place = open_places[row]
        centroids[row] = moved(centroids[row], changed[place].members, vector)
        changed[place] = with_member(changed[place], failure)
        memberships.append(_membership(failure, assignment, ids))
    for row, place in enumerate(open_places):
        if changed[place] is not issues[place]:
            changed[place] = replace(changed[place], centroid=tuple(centroids[row].tolist()))
    return CentroidMatches(memberships=tuple(memberships), issues=tuple(changed))


def _is_open(issue: Issue) -> bool:
    return bool(issue.centroid) and not issue.is_provisional and not issue.merged_into


def _membership(failure: Failure, assignment: Assignment, ids: Sequence[str]) -> Membership:
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=ids[assignment.place],
        by=MemberBy.ASSIGNED,
        strength=assignment.strength,
        others=tuple((ids[place], strength) for place, strength in assignment.others),
    )
