"""A cluster of failing records on its way into an issue. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from clustering.failures.masking import masked
from clustering.grouping.vectors import MOST_MEMBERS, Vectors, centroid, unit
from clustering.issues.members import with_member
from clustering.issues.names import name, telling
from clustering.issues.provisional import key_of
from ragvigil.model.identity import identity
from ragvigil.model.issue import Failure, Issue, IssueState

JOINS = 0.85
"""Cosine of centroids from which a cluster is an issue that is there already."""
ID_OF = 3
"""Earliest records that an id is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Records of one service, environment and family that are alike, one or more, in time order.

    `vectors` (n, d) are theirs, of the model `vector_model`; `others` are reasons, masked, of
    records beside them.
    """

    failures: Sequence[Failure]
    vectors: Vectors
    vector_model: str
    others: Sequence[str]


def nearest(candidate: Candidate, issues: Iterable[Issue]) -> Issue | None:
    """The issue that the candidate is; provisional ones have no centroid to compare."""
    model = candidate.vector_model
    lasting = [
        issue for issue in issues if not issue.is_provisional and issue.vector_model == model
    ]
    if not lasting:
        return None
    cosines = np.array([issue.centroid for issue in lasting]) @ centroid(candidate.vectors)
    best = int(cosines.argmax())
    return lasting[best] if cosines[best] >= JOINS else None


def joined(issue: Issue, candidate: Candidate) -> Issue:
    """The issue with the candidate's records, its centroid moved by them all at once."""
    weight = min(issue.members, MOST_MEMBERS)
    centre = np.array(issue.centroid) * weight + candidate.vectors.sum(axis=0)
    return replace(_with_members(issue, candidate), centroid=tuple(unit(centre).tolist()))


def refined(issue: Issue, candidate: Candidate) -> Issue:
    """A provisional issue as the cluster that it turned out to be; its id and its past stay.

    It is named anew, unless a person has named it.
    """
    grown = replace(
        _with_members(issue, candidate),
        is_provisional=False,
        centroid=tuple(centroid(candidate.vectors).tolist()),
        vector_model=candidate.vector_model,
    )
    if grown.is_name_frozen:
        return grown
    phrases = telling(reasons(candidate.failures), candidate.others) or (grown.label,)
    return replace(grown, name=name(grown.rubric, phrases, grown.routes))


def opened(candidate: Candidate, now_unix_nano: int) -> Issue:
    """A new issue; its id is of its earliest records, its rubric and label those of most."""
    first = candidate.failures[0]
    keys = Counter(map(key_of, candidate.failures))
    key = max(keys, key=lambda each: (keys[each], each))
    earliest = [part for failure in candidate.failures[:ID_OF] for part in failure.key]
    empty = Issue(
        issue_id=identity("issue", first.service, first.environment, first.family, *earliest),
        service=first.service,
        environment=first.environment,
        family=first.family,
        rubric=key.rubric,
        label=key.label,
        name="",
        state=IssueState.NEW,
        first_unix_nano=first.time_unix_nano,
        last_unix_nano=first.time_unix_nano,
        opened_unix_nano=now_unix_nano,
        state_unix_nano=now_unix_nano,
    )
    return refined(empty, candidate)


def reasons(failures: Iterable[Failure]) -> list[str]:
    """What went wrong, without what it was about."""
    return [masked(failure.reason, failure.question) for failure in failures]


def _with_members(issue: Issue, candidate: Candidate) -> Issue:
    return reduce(with_member, candidate.failures, issue)
