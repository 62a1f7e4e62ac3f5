"""Merges are proposed, keep people's decisions, and can be undone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from clustering.grouping.vectors import Vectors, centroid
from clustering.issues.merges import (
    MergeDoesNotFit,
    Split,
    merge,
    propose,
    redirect,
    splits,
    unmerge,
)
from ragvigil.model.issue import Issue, IssuePair, IssueState, IssueVerb, PairVerdict
from ragvigil.model.score import Layer
from tests.unit.clustering.issue_examples import at, issue
from tests.unit.clustering.vector_groups import clustering_of, groups


def lying(name: str, cosine: float, **more: object) -> Issue:
    """An issue whose centroid has this cosine to the first axis."""
    mean = (cosine, float(np.sqrt(1 - cosine**2)))
    return issue(name, centroid=mean, vector_model="MiniLM", **more)


OLD = lying("old", 1.0, opened_unix_nano=at(-9))
TOGETHER = clustering_of([0] * 10), ["old"] * 5 + ["new"] * 5
"""A clustering in which both issues lie in one cluster."""


def verdicts(*issues: Issue, pairs: tuple[IssuePair, ...] = ()) -> list[tuple[str, str, str]]:
    found = propose(*TOGETHER, issues, pairs, at(0))
    return [(pair.kept, pair.merged, pair.verdict.value) for pair in found]


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        (0.90, [("old", "new", "merged")]),
        (0.80, [("old", "new", "proposed")]),
        (0.70, []),
    ],
)
def test_the_likeness_decides_whether_a_person_is_asked(
    cosine: float, expected: list[tuple[str, str, str]]
) -> None:
    assert verdicts(lying("new", cosine), OLD) == expected


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"routes": ("/fees",)}, PairVerdict.MERGED),
        ({"routes": ("/ask", "/fees")}, PairVerdict.PROPOSED),
        ({"routes": ("/fees",), "label": "stitched"}, PairVerdict.PROPOSED),
        ({"routes": ("/fees",), "assignee": "ann"}, PairVerdict.PROPOSED),
        ({"routes": ("/fees",), "centroid": (0.86, 0.3, 0.4, 0.1)}, PairVerdict.PROPOSED),
    ],
)
def test_issues_that_differ_by_route_alone_are_one(
    more: dict[str, object], verdict: PairVerdict
) -> None:
    # Reasons in the first half, questions in the second: those of two routes are unlike.
    here = issue("old", centroid=(0.866, 0.0, 0.5, 0.0), vector_model="MiniLM", routes=("/ask",),
                 opened_unix_nano=at(-9))  # fmt: skip
    given: dict[str, object] = {"centroid": (0.866, 0.0, 0.1, 0.49), "vector_model": "MiniLM"}
    there = issue("new", **given | more)
    apart = clustering_of([0] * 5 + [1] * 5)
    (pair,) = propose(apart, TOGETHER[1], [here, there], [], at(0))
    assert pair.verdict is verdict


def test_a_person_is_asked_where_the_members_do_not_lie_together() -> None:
    apart = clustering_of([0] * 5 + [1] * 5)
    (pair,) = propose(apart, TOGETHER[1], [OLD, lying("new", 0.95)], [], at(0))
    assert (pair.verdict, pair.shared) == (PairVerdict.PROPOSED, 0.0)


def test_a_person_is_asked_about_what_a_person_has_triaged() -> None:
    triaged = lying("new", 0.95, state=IssueState.ACKNOWLEDGED)
    assert verdicts(OLD, triaged) == [("old", "new", "proposed")]


def test_what_was_parted_is_never_proposed_again() -> None:
    pair = propose(*TOGETHER, [OLD, lying("new", 0.95)], [], at(0))[0]
    apart = replace(pair, verdict=PairVerdict.APART)
    assert verdicts(OLD, lying("new", 0.95), pairs=(apart,)) == []


@pytest.mark.parametrize(
    "other",
    [
        lying("new", 0.95, service="shop"),
        lying("new", 0.95, family=Layer.RETRIEVAL),
        lying("new", 0.95, merged_into="old"),
        replace(lying("new", 0.95), vector_model="another"),
        issue("new"),
    ],
)
def test_issues_of_different_kinds_are_not_compared(other: Issue) -> None:
    assert verdicts(OLD, other) == []


def test_an_issue_is_merged_once_a_night() -> None:
    third = lying("third", 0.97)
    pairs = verdicts(OLD, lying("new", 0.99), third)
    assert [pair for pair in pairs if pair[2] == "merged"] == [("old", "new", "merged")]


def test_the_older_id_stays_and_the_younger_leads_to_it() -> None:
    younger = lying("new", 0.9, routes=("/chat",), members=4, last_unix_nano=at(5))
    kept, merged, events = merge(younger, OLD, time_unix_nano=at(9), actor="ann", text="same")
    assert (kept.issue_id, kept.members, kept.routes, kept.last_unix_nano) == (
        "old",
        14,
        ("/chat",),
        at(5),
    )
    assert (merged.issue_id, merged.merged_into, merged.members) == ("new", "old", 4)
    assert [(event.issue_id, event.verb, event.actor, event.text) for event in events] == [
        ("old", IssueVerb.MERGE, "ann", "new: same"),
        ("new", IssueVerb.MERGE, "ann", "old: same"),
    ]
    assert redirect("new", {"old": kept, "new": merged}) == "old"


def test_what_was_said_of_the_younger_goes_over() -> None:
    triaged = lying(
        "new", 0.9, state=IssueState.IGNORED, ignored_until_unix_nano=at(99), assignee="ann"
    )
    kept, _, _ = merge(OLD, triaged, time_unix_nano=at(9))
    assert (kept.state, kept.ignored_until_unix_nano, kept.assignee) == (
        IssueState.IGNORED,
        at(99),
        "ann",
    )


def test_what_was_said_of_the_older_holds_against_the_younger() -> None:
    resolved = replace(OLD, state=IssueState.RESOLVED)
    kept, _, _ = merge(resolved, lying("new", 0.9, state=IssueState.IGNORED), time_unix_nano=at(9))
    assert kept.state is IssueState.RESOLVED


def own_vectors() -> Vectors:
    return np.array([[1, 0], [1, 0.1]], np.float32)


def test_a_merge_can_be_undone() -> None:
    younger = lying("new", 0.9, members=4, assignee="ann")
    kept, merged, _ = merge(OLD, younger, time_unix_nano=at(9))
    alone, again, events = unmerge(kept, merged, own_vectors(), time_unix_nano=at(10), actor="bo")
    assert again == younger
    assert alone.members == OLD.members
    assert np.allclose(alone.centroid, centroid(own_vectors()))
    assert [event.verb for event in events] == [IssueVerb.UNMERGE] * 2


@pytest.mark.parametrize(
    ("issue", "other", "why"),
    [
        (OLD, OLD, "an issue is not merged with itself"),
        (OLD, lying("new", 1, merged_into="x"), "issue new was merged into x"),
        (OLD, lying("new", 1, service="shop"), "only issues of one service, environment and"),
    ],
)
def test_a_merge_that_does_not_fit_says_why(issue: Issue, other: Issue, why: str) -> None:
    with pytest.raises(MergeDoesNotFit, match=why):
        merge(issue, other, time_unix_nano=0)


def test_what_was_not_merged_cannot_be_undone() -> None:
    with pytest.raises(MergeDoesNotFit, match="issue new is not merged into old"):
        unmerge(OLD, lying("new", 1), own_vectors(), time_unix_nano=0)


def test_an_issue_in_two_unlike_clusters_may_be_two() -> None:
    vectors = groups([60, 30, 5])
    clustering = clustering_of([0] * 60 + [1] * 30 + [2] * 5)
    assert splits(clustering, ["a"] * 95, vectors) == [Split(issue_id="a", parts=(60, 30))]


def test_an_issue_in_two_clusters_that_are_alike_is_one() -> None:
    assert splits(clustering_of([0] * 60 + [1] * 30), ["a"] * 90, groups([90])) == []
