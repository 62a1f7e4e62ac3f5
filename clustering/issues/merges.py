"""Proposes merges and splits of issues, merges two, and undoes it. Pure.

A merge is a redirect: memberships keep the id of the issue that was joined, and its `merged_into`
leads on. So a merge loses nothing, and undoing it is exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import MOST_MEMBERS, Vectors, centroid, unit
from ragvigil.model.issue import Issue, IssueEvent, IssuePair, IssueVerb, PairVerdict

PROPOSED = 0.75
"""Cosine of centroids from which a merge is proposed to people."""
SURE, SURE_SHARED = 0.85, 0.6
"""From this cosine two issues are merged at once, if this share of each lies in one cluster."""
SAME_REASON = 0.95
"""From this cosine of the reasons alone two issues of different routes have one cause."""
SPLIT_SHARE = 0.25
"""An issue may be two causes if a second cluster holds this share of its clustered members."""
SPLIT_LEAST = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """An issue whose members lie in several unlike clusters; `parts` are counts, largest first."""

    issue_id: str
    parts: tuple[int, ...]


class MergeDoesNotFit(ValueError):
    """These issues cannot be merged or parted; `str(error)` says why."""


def older_first(first: Issue, other: Issue) -> tuple[Issue, Issue]:
    """The issue whose id a merge keeps, and the other."""
    kept, merged = sorted(
        (first, other), key=lambda issue: (issue.opened_unix_nano, issue.issue_id)
    )
    return kept, merged


def propose(
    clustering: Clustering,
    members: Sequence[str],
    issues: Iterable[Issue],
    pairs: Iterable[IssuePair],
    time_unix_nano: int,
) -> list[IssuePair]:
    """Pairs of issues of one service, environment and family to be merged, most alike first.

    `clustering` is of all records of that family, `members` (n) are the ids of their issues, empty
    for none. A pair is MERGED (to be done at once) if it is sure, or differs by route alone, and no
    person has triaged the younger issue; else it is PROPOSED. Pairs in `pairs` are decided or wait
    for a person: they are left out. So are, until the next call, further pairs of an issue that is
    merged now.
    """
    decided = {frozenset((pair.kept, pair.merged)) for pair in pairs}
    counts = _cluster_counts(clustering, members)
    proposals: list[IssuePair] = []
    changing: set[str] = set()
    for likeness, kept, merged in _similar_pairs(issues):
        both = {kept.issue_id, merged.issue_id}
        if both & changing or frozenset(both) in decided:
            continue
        shared = _shared(counts[kept.issue_id], counts[merged.issue_id])
        is_alike = likeness >= SURE and shared >= SURE_SHARED
        is_sure = (is_alike or differ_by_route_alone(kept, merged)) and not merged.is_triaged
        changing |= both if is_sure else set()
        proposals.append(
            IssuePair(
                kept=kept.issue_id,
                merged=merged.issue_id,
                verdict=PairVerdict.MERGED if is_sure else PairVerdict.PROPOSED,
                likeness=likeness,
                shared=shared,
                time_unix_nano=time_unix_nano,
            )
        )
    return proposals


def differ_by_route_alone(first: Issue, other: Issue) -> bool:
    """Whether two issues with centroids fail one rubric and label, for one reason, elsewhere.

    Their questions differ, as those of two routes do; the clusters that hold them then do, too.
    """
    is_same = (first.rubric, first.label) == (other.rubric, other.label) and bool(first.rubric)
    if not is_same or not first.routes or not other.routes or set(first.routes) & set(other.routes):
        return False
    reasons = [
        unit(np.array(issue.centroid[: len(issue.centroid) // 2], np.float32))
        for issue in (first, other)
    ]
    return float(reasons[0] @ reasons[1]) >= SAME_REASON


def splits(clustering: Clustering, members: Sequence[str], vectors: Vectors) -> list[Split]:
    """Issues that may be several causes.

    A further part counts if it has at least a quarter of the clustered members, at least 25, and a
    cosine under 0.75 to the largest part. `vectors` (n, d) and `members` (n) are those of the
    clustered records.
    """
    counts = _cluster_counts(clustering, members)
    several = []
    for issue_id in sorted(counts):
        rows = np.array([member == issue_id for member in members])
        (first, largest), *others = counts[issue_id].most_common()
        middle = centroid(vectors[rows & (clustering.labels == first)])
        parts = [
            count
            for cluster, count in others
            if count >= max(SPLIT_LEAST, SPLIT_SHARE * counts[issue_id].total())
            and middle @ centroid(vectors[rows & (clustering.labels == cluster)]) < PROPOSED
        ]
        if parts:
            several.append(Split(issue_id=issue_id, parts=(largest, *parts)))
    return several


def merge(
    first: Issue, other: Issue, *, time_unix_nano: int, actor: str = "", text: str = ""
) -> tuple[Issue, Issue, tuple[IssueEvent, ...]]:
    """The older issue with the members of both, the younger as a redirect to it, and the events.

    If a person has triaged only the younger, its state, assignee and name are copied: no decision
    of a person is lost. Raises MergeDoesNotFit.
    """
    if first.issue_id == other.issue_id:
        raise MergeDoesNotFit("an issue is not merged with itself")
    for issue in (first, other):
        if issue.merged_into:
            raise MergeDoesNotFit(f"issue {issue.issue_id} was merged into {issue.merged_into}")
    if _kind(first) != _kind(other):
        raise MergeDoesNotFit("only issues of one service, environment and family are merged")
    kept, merged = older_first(first, other)
    if merged.is_triaged and not kept.is_triaged:
        kept = _with_triage(kept, merged)
    both = replace(
        kept,
        members=kept.members + merged.members,
        is_provisional=kept.is_provisional and merged.is_provisional,
        first_unix_nano=min(kept.first_unix_nano, merged.first_unix_nano),
        last_unix_nano=max(kept.last_unix_nano, merged.last_unix_nano),
        routes=tuple(sorted({*kept.routes, *merged.routes})),
        centroid=_joint_centroid(kept, merged),
        vector_model=kept.vector_model or merged.vector_model,
    )
    events = _events(kept, merged, IssueVerb.MERGE, time_unix_nano, actor, text)
    return both, replace(merged, merged_into=kept.issue_id), events


def unmerge(
    kept: Issue,
    merged: Issue,
    vectors: Vectors,
    *,
    time_unix_nano: int,
    actor: str = "",
    text: str = "",
) -> tuple[Issue, Issue, tuple[IssueEvent, ...]]:
    """Both issues apart again, which memberships still distinguish, and the events.

    `vectors` (n, d) are of the members that stay with `kept`; their mean becomes its centroid.
    Times and routes stay as wide as they were. The caller stores the pair as APART. Raises
    MergeDoesNotFit.
    """
    if merged.merged_into != kept.issue_id:
        raise MergeDoesNotFit(f"issue {merged.issue_id} is not merged into {kept.issue_id}")
    alone = replace(
        kept,
        members=max(0, kept.members - merged.members),
        centroid=tuple(centroid(vectors).tolist()) if len(vectors) else kept.centroid,
    )
    events = _events(kept, merged, IssueVerb.UNMERGE, time_unix_nano, actor, text)
    return alone, replace(merged, merged_into=""), events


def redirect(issue_id: str, issues: Mapping[str, Issue]) -> str:
    """The id under which an issue is known now, through any number of merges."""
    while issue_id in issues and issues[issue_id].merged_into:
        issue_id = issues[issue_id].merged_into
    return issue_id


def _cluster_counts(clustering: Clustering, members: Sequence[str]) -> dict[str, Counter[int]]:
    """How many members of each issue lie in which cluster."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for issue_id, cluster in zip(members, clustering.labels.tolist(), strict=True):
        if issue_id and cluster >= 0:
            counts[issue_id][cluster] += 1
    return counts


def _shared(first: Counter[int], other: Counter[int]) -> float:
    """The largest share that both have in one cluster; of the two shares the smaller counts."""
    common = first.keys() & other.keys()
    return max(
        (min(first[c] / first.total(), other[c] / other.total()) for c in common), default=0.0
    )


def _similar_pairs(issues: Iterable[Issue]) -> list[tuple[float, Issue, Issue]]:
    """Likeness, older and younger issue of pairs of one kind and model, most alike first."""
    kinds: dict[tuple[str, ...], list[Issue]] = defaultdict(list)
    for issue in issues:
        if issue.centroid and not issue.merged_into:
            kinds[(*_kind(issue), issue.vector_model)].append(issue)
    similar = []
    for same in kinds.values():
        centroids = np.array([issue.centroid for issue in same], np.float32)
        likeness = np.triu(centroids @ centroids.T, 1)
        for row, column in np.argwhere(likeness >= PROPOSED).tolist():
            pair = older_first(same[row], same[column])
            similar.append((float(likeness[row, column]), *pair))
    return sorted(similar, key=lambda alike: (-alike[0], alike[1].issue_id, alike[2].issue_id))


def _kind(issue: Issue) -> tuple[str, str, str]:
    return (issue.service, issue.environment, issue.family)


def _with_triage(kept: Issue, merged: Issue) -> Issue:
    """The older issue with what a person decided about the younger."""
    return replace(
        kept,
        name=merged.name if merged.is_name_frozen else kept.name,
        is_name_frozen=merged.is_name_frozen,
        state=merged.state,
        state_unix_nano=merged.state_unix_nano,
        assignee=merged.assignee,
        resolved_in=merged.resolved_in,
        resolved_unix_nano=merged.resolved_unix_nano,
        ignored_until_unix_nano=merged.ignored_until_unix_nano,
        ignored_members=merged.ignored_members,
    )


def _joint_centroid(kept: Issue, merged: Issue) -> tuple[float, ...]:
    """The weighted centroid of both; only one where the other is missing or of another model."""
    if not kept.centroid or not merged.centroid or kept.vector_model != merged.vector_model:
        return kept.centroid or merged.centroid
    parts = [
        np.array(issue.centroid, np.float32) * max(1, min(issue.members, MOST_MEMBERS))
        for issue in (kept, merged)
    ]
    return tuple(unit(parts[0] + parts[1]).tolist())


def _events(
    kept: Issue, merged: Issue, verb: IssueVerb, time_unix_nano: int, actor: str, text: str
) -> tuple[IssueEvent, ...]:
    """An event for each of the two issues; each names the other."""
    return tuple(
        IssueEvent(
            issue_id=own.issue_id,
            time_unix_nano=time_unix_nano,
            verb=verb,
            actor=actor,
            text=": ".join(filter(None, (other.issue_id, text))),
        )
        for own, other in ((kept, merged), (merged, kept))
    )
