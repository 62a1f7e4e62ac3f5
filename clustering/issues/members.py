"""A new failing record joins the issue whose centroid it is nearest to. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clustering.grouping.assign import Assignment, assign
from clustering.grouping.vectors import Vectors, moved
from ragvigil.model.issue import Failure, Issue, MemberBy, Membership


def with_member(issue: Issue, failure: Failure) -> Issue:
    """The issue with one member more; its centroid is left as it is."""
    return replace(
        issue,
        members=issue.members + 1,
        first_unix_nano=min(issue.first_unix_nano, failure.time_unix_nano),
        last_unix_nano=max(issue.last_unix_nano, failure.time_unix_nano),
        routes=tuple(sorted({*issue.routes, failure.route})),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidMatches:
    """What became of records: a membership or None for each, and the issues with the new ones."""

    memberships: tuple[Membership | None, ...]
    issues: tuple[Issue, ...]


def assign_all(
    failures: Sequence[Failure], vectors: Vectors, issues: Sequence[Issue]
) -> CentroidMatches:
    """Failures of one service, environment and family to its issues, one after the other.

    `vectors` (n, d) stand in the order of `failures`, which is that of time: a centroid moves with
    each member, so the result is the same however a stream is cut into calls. Provisional and
    merged issues and those without a centroid take nobody; those of another vector model are the
    caller's to leave out.
    """
    takes = [place for place, issue in enumerate(issues) if _takes(issue)]
    changed = list(issues)
    ids = [issues[place].issue_id for place in takes]
    centroids = np.array([issues[place].centroid for place in takes], dtype=np.float32)
    memberships: list[Membership | None] = []
    for failure, vector in zip(failures, vectors, strict=True):
        found = assign(vector, centroids) if takes else None
        if found is None:
            memberships.append(None)
            continue
        place = takes[found.place]
        centroids[found.place] = moved(centroids[found.place], changed[place].members, vector)
        changed[place] = with_member(changed[place], failure)
        memberships.append(_membership(failure, found, ids))
    for row, place in enumerate(takes):
        if changed[place] is not issues[place]:
            changed[place] = replace(changed[place], centroid=tuple(centroids[row].tolist()))
    return CentroidMatches(memberships=tuple(memberships), issues=tuple(changed))


def _takes(issue: Issue) -> bool:
    return bool(issue.centroid) and not issue.is_provisional and not issue.merged_into


def _membership(failure: Failure, found: Assignment, ids: Sequence[str]) -> Membership:
    return Membership(
        trace_id=failure.trace_id,
        record_id=failure.record_id,
        issue_id=ids[found.place],
        by=MemberBy.ASSIGNED,
        strength=found.strength,
        others=tuple((ids[place], strength) for place, strength in found.others),
    )
