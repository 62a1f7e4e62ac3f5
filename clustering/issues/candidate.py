"""Turns a cluster of failing records into an issue: joins, refines or opens one. Pure."""

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
"""Cosine of centroids from which a cluster is part of an existing issue."""
ID_OF = 3
"""The id of a new issue is made of this many of its earliest records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One or more similar records of one service, environment and family, in time order.

    `vectors` (n, d) are theirs, of the model `vector_model`. `others` are masked reasons of records
    outside it, from which its name must differ.
    """

    failures: Sequence[Failure]
    vectors: Vectors
    vector_model: str
    others: Sequence[str]


def nearest(candidate: Candidate, issues: Iterable[Issue]) -> Issue | None:
    """The nearest issue within JOINS, or None. Provisional issues have no centroid to compare."""
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
    """The issue with the candidate's records; its centroid moves by all of them at once."""
    weight = min(issue.members, MOST_MEMBERS)
    centre = np.array(issue.centroid) * weight + candidate.vectors.sum(axis=0)
    return replace(_with_members(issue, candidate), centroid=tuple(unit(centre).tolist()))


def refined(issue: Issue, candidate: Candidate) -> Issue:
    """A provisional issue turned into a clustered one; it keeps its id and its past.

    It gets a new name, unless its name is frozen.
    """
    grown = replace(
        _with_members(issue, candidate),
        is_provisional=False,
        centroid=tuple(centroid(candidate.vectors).tolist()),
        vector_model=candidate.vector_model,
    )
    if grown.is_name_frozen:
        return grown
    phrases = telling(reasons(candidate.failures), candidate.others)
    questions = [failure.question or "" for failure in candidate.failures]
    given = name(grown.rubric, grown.label, questions, phrases=phrases, routes=grown.routes)
    return replace(grown, name=given)


def opened(candidate: Candidate, now_unix_nano: int) -> Issue:
    """A new issue: id from its earliest records, rubric and label from the majority."""
    first = candidate.failures[0]
    keys = Counter(map(key_of, candidate.failures))
    key = max(keys, key=lambda key: (keys[key], key))  # of equal counts the same one, every time
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
    """The masked reasons: what went wrong, without the topic."""
    return [masked(failure.reason, failure.question) for failure in failures]


def _with_members(issue: Issue, candidate: Candidate) -> Issue:
    return reduce(with_member, candidate.failures, issue)
