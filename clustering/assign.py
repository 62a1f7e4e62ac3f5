"""A new failing record joins the issue that it is near to, and clearly nearer than to any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clustering.members import with_member
from clustering.vectors import Vectors, moved
from ragvigil.model.issue import Failure, Issue, MemberBy, Membership

LEAST_COSINE = 0.65
LEAST_MARGIN = 0.02
TEMPERATURE = 0.05
MOST_OTHERS = 4
"""Issues that are kept beside the one that a record joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The issue at `place`, with a strength of 0..1; `others` are the next, by place.

    The strengths are the softmax of cosine / 0.05 over all that are named, and sum to 1.
    """

    place: int
    strength: float
    others: tuple[tuple[int, float], ...] = ()


def assign(vector: Vectors, centroids: Vectors) -> Assignment | None:
    """Which of the centroids (k, d) a vector (d,) belongs to; None where none is near enough."""
    cosines = centroids @ vector
    order = np.argsort(-cosines, kind="stable")[: 1 + MOST_OTHERS]
    near = cosines[order].astype(np.float64)
    if not len(near) or near[0] < LEAST_COSINE:
        return None
    if len(near) > 1 and near[0] - near[1] < LEAST_MARGIN:
        return None
    weights = np.exp((near - near[0]) / TEMPERATURE)
    ranked = list(zip(order.tolist(), (weights / weights.sum()).tolist(), strict=True))
    return Assignment(place=ranked[0][0], strength=ranked[0][1], others=tuple(ranked[1:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """What became of records: a membership or None for each, and the issues with the new ones."""

    memberships: tuple[Membership | None, ...]
    issues: tuple[Issue, ...]


def assign_all(failures: Sequence[Failure], vectors: Vectors, issues: Sequence[Issue]) -> Assigned:
    """Failures of one service, environment and family to its issues, one after the other.

    `vectors` (n, d) stand in the order of `failures`, which is that of time: a centroid moves with
    each member, so the result is the same however a stream is cut into calls. Provisional and
    merged issues and those without a centroid take nobody; those of another vector model are the
    caller's to leave out.
    """
    takes = [place for place, one in enumerate(issues) if _takes(one)]
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
    return Assigned(memberships=tuple(memberships), issues=tuple(changed))


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
