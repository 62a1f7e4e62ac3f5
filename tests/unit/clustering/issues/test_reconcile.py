"""Clusters join, refine or open issues, and no issue loses an id that a person knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import Vectors, centroid
from clustering.issues.provisional import group
from clustering.issues.reconcile import Changes, Residue, reconcile
from ragvigil.model.issue import Failure, Issue, IssueState, MemberBy
from tests.unit.clustering.issue_examples import at, failure, issue
from tests.unit.clustering.vector_groups import clustering_of, groups

MODEL = "MiniLM"


def failures(count: int) -> list[Failure]:
    return [
        failure(f"{n:02}", n, question="Where is my parcel?", reason="names no deadline")
        for n in range(count)
    ]


def lasting(name: str, vectors: Vectors, **more: object) -> Issue:
    mean = tuple(centroid(vectors).tolist())
    return issue(name, centroid=mean, vector_model=MODEL, **more)


def provisional(name: str, **more: object) -> Issue:
    return issue(name, is_provisional=True, **more)


def proposed(
    clustering: Clustering,
    vectors: Vectors,
    issues: Sequence[Issue] = (),
    held: Mapping[int, str] | None = None,
    *,
    is_above: bool = True,
) -> Changes:
    records = failures(len(vectors))
    residue = Residue(
        failures=records,
        vectors=vectors,
        vector_model=MODEL,
        held={records[row].key: issue_id for row, issue_id in (held or {}).items()},
        issues={issue.issue_id: issue for issue in issues},
    )
    return reconcile(residue, clustering, lambda _, **__: is_above, at(99))


def homes(result: Changes, count: int) -> list[str]:
    after = {membership.key: membership.issue_id for membership in result.memberships}
    return [after.get(failure.key, "") for failure in failures(count)]


def test_a_cluster_above_the_background_is_a_new_issue() -> None:
    changes = proposed(clustering_of([0] * 8 + [-1, -1]), groups([8, 2]))
    (opened,) = changes.opened
    assert (opened.members, opened.is_provisional, opened.state) == (8, False, IssueState.NEW)
    assert (opened.first_unix_nano, opened.last_unix_nano, opened.opened_unix_nano) == (
        at(0),
        at(7),
        at(99),
    )
    assert (opened.rubric, opened.label, opened.routes) == (
        "groundedness",
        "unsupported",
        ("/ask",),
    )
    assert opened.name == "Answers make claims that no chunk supports · on /ask"
    assert homes(changes, 10) == [opened.issue_id] * 8 + ["", ""]
    assert {membership.by for membership in changes.memberships} == {MemberBy.CLUSTERED}
    assert changes.memberships[0].strength == np.float32(0.9)


def test_a_cluster_within_the_background_is_nothing() -> None:
    assert proposed(clustering_of([0] * 8), groups([8]), is_above=False) == Changes()


def test_causes_that_come_together_do_not_hide_one_another() -> None:
    calls: list[int] = []
    residue = Residue(
        failures=[replace(failure, route=f"/{n % 2}") for n, failure in enumerate(failures(20))],
        vectors=groups([8, 8, 4]),
        vector_model=MODEL,
        held={},
        issues={},
    )
    reconcile(
        residue,
        clustering_of([0] * 8 + [1] * 8 + [-1] * 4),
        lambda _, loose: bool(calls.append(loose)),
        at(99),
    )
    assert calls == [16, 16]


def test_its_id_is_that_of_its_earliest_records_however_many_more_there_are() -> None:
    few = proposed(clustering_of([0] * 8), groups([8])).opened[0]
    more = proposed(clustering_of([0] * 20), groups([20])).opened[0]
    assert few.issue_id == more.issue_id


def test_a_cluster_like_an_issue_joins_it() -> None:
    vectors = groups([8])
    changes = proposed(clustering_of([0] * 8), vectors, [lasting("known", vectors)])
    assert (changes.opened, [issue.issue_id for issue in changes.changed]) == ((), ["known"])
    assert changes.changed[0].members == 18
    assert homes(changes, 8) == ["known"] * 8


def test_two_clusters_that_are_alike_are_one_new_issue() -> None:
    vectors = groups([16])
    changes = proposed(clustering_of([0] * 8 + [1] * 8), vectors)
    assert [issue.members for issue in changes.opened] == [16]


def test_the_largest_cluster_of_a_provisional_issue_keeps_its_id() -> None:
    held = dict.fromkeys(range(20), "p")
    changes = proposed(
        clustering_of([0] * 8 + [1] * 12), groups([8, 12]), [provisional("p", members=20)], held
    )
    (refined,), (opened,) = changes.refined, changes.opened
    assert (refined.issue_id, refined.members, refined.is_provisional) == ("p", 12, False)
    assert (refined.vector_model, opened.members) == (MODEL, 8)
    assert homes(changes, 20) == [opened.issue_id] * 8 + ["p"] * 12


def test_a_name_that_a_person_gave_survives_the_refining() -> None:
    own = replace(provisional("p"), name="Deadlines are wrong", is_name_frozen=True)
    changes = proposed(clustering_of([0] * 8), groups([8]), [own], dict.fromkeys(range(8), "p"))
    assert changes.refined[0].name == "Deadlines are wrong"


def test_what_was_in_a_refined_issue_by_its_key_alone_is_in_none_now() -> None:
    held = dict.fromkeys(range(10), "p")
    changes = proposed(
        clustering_of([0] * 8 + [-1, -1]), groups([8, 2]), [provisional("p", members=10)], held
    )
    assert changes.released == tuple(failure.key for failure in failures(10)[8:])
    assert changes.refined[0].members == 8


def test_what_is_near_a_new_issue_joins_it_though_it_was_noise() -> None:
    changes = proposed(clustering_of([0] * 8 + [-1, -1]), groups([10]))
    assert changes.opened[0].members == 10
    assert [membership.by for membership in changes.memberships[8:]] == [MemberBy.ASSIGNED] * 2


def test_a_provisional_issue_that_lost_all_leads_to_where_they_went() -> None:
    vectors = groups([8])
    issues = [lasting("known", vectors), provisional("p", members=8)]
    changes = proposed(clustering_of([0] * 8), vectors, issues, dict.fromkeys(range(8), "p"))
    after = {issue.issue_id: issue for issue in changes.changed}
    assert (after["p"].merged_into, after["p"].members) == ("known", 0)
    assert after["known"].members == 18


def test_a_triaged_provisional_issue_loses_nobody() -> None:
    vectors = groups([8, 2])
    triaged = provisional("p", members=10, state=IssueState.ACKNOWLEDGED, assignee="ann")
    issues = [lasting("known", vectors[:8]), triaged]
    changes = proposed(
        clustering_of([0] * 8 + [-1, -1]), vectors, issues, dict.fromkeys(range(10), "p")
    )
    (refined,) = changes.refined
    assert (refined.issue_id, refined.members, refined.state) == ("p", 10, IssueState.ACKNOWLEDGED)
    assert (changes.released, changes.changed) == ((), ())


def test_a_cluster_takes_nobody_out_of_a_triaged_issue() -> None:
    triaged = provisional("p", members=3, state=IssueState.ACKNOWLEDGED)
    changes = proposed(
        clustering_of([0] * 12), groups([12]), [triaged], dict.fromkeys(range(3), "p")
    )
    assert changes.opened[0].members == 9
    assert homes(changes, 3) == ["", "", ""]


def test_issues_of_another_vector_model_are_not_compared() -> None:
    vectors = groups([8])
    known = replace(lasting("known", vectors), vector_model="another")
    assert len(proposed(clustering_of([0] * 8), vectors, [known]).opened) == 1


def test_a_cluster_whose_records_left_meanwhile_is_nothing() -> None:
    assert len(proposed(clustering_of([1] * 8), groups([8])).opened) == 1


@given(labels=st.lists(st.integers(-1, 3), min_size=1, max_size=30), kept=st.integers(0, 30))
def test_members_are_counted_by_who_is_in_and_nobody_is_in_two(
    labels: list[int], kept: int
) -> None:
    records = failures(len(labels))[:kept]
    grouped = group(records, [], lambda _: True, at(0))
    held = {membership.key: membership.issue_id for membership in grouped.memberships}
    vectors = groups([len(labels)], spread=0.5)
    residue = Residue(
        failures=failures(len(labels)),
        vectors=vectors,
        vector_model=MODEL,
        held=held,
        issues={issue.issue_id: issue for issue in grouped.issues},
    )
    changes = reconcile(residue, clustering_of(labels), lambda some, **_: len(some) >= 3, at(99))
    after = held | {membership.key: membership.issue_id for membership in changes.memberships}
    after |= dict.fromkeys(changes.released, "")
    changed = (*grouped.issues, *changes.changed, *changes.refined, *changes.opened)
    issues = {issue.issue_id: issue for issue in changed}
    counts = {issue: list(after.values()).count(issue) for issue in issues}
    assert {issue.issue_id: issue.members for issue in issues.values()} == counts
    assert len({membership.key for membership in changes.memberships}) == len(changes.memberships)
