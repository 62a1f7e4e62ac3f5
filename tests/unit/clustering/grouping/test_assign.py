"""Which issue a new failing record joins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustering.grouping.assign import LEAST_COSINE, assign
from clustering.grouping.vectors import unit
from clustering.issues.members import CentroidMatches, assign_all
from ragvigil.model.issue import MemberBy
from tests.unit.clustering.issue_examples import at, failure, issue

AXES = np.eye(8, dtype=np.float32)


def toward(axis: int, cosine: float, other: int = 7) -> np.ndarray:
    return cosine * AXES[axis] + np.sqrt(1 - cosine**2) * AXES[other]


def issues(n: int = 3) -> list:  # type: ignore[type-arg]
    return [issue(f"i{place}", centroid=tuple(AXES[place].tolist())) for place in range(n)]


def all_of(vectors: np.ndarray, *, given: list) -> CentroidMatches:  # type: ignore[type-arg]
    return assign_all([failure(str(n), n) for n in range(len(vectors))], vectors, given)


@pytest.mark.parametrize(("cosine", "joins"), [(0.66, True), (0.64, False), (-1.0, False)])
def test_a_record_joins_from_a_cosine_of_two_thirds(cosine: float, joins: bool) -> None:
    assert (assign(toward(1, cosine), AXES[:3]) is not None) == joins


def test_a_record_between_two_issues_joins_neither() -> None:
    between = unit(AXES[0] + 0.99 * AXES[1])
    assert between @ AXES[0] > LEAST_COSINE
    assert assign(between, AXES[:3]) is None
    leaning = assign(unit(AXES[0] + 0.9 * AXES[1]), AXES[:3])
    assert leaning is not None
    assert leaning.place == 0
    assert leaning.others[0][0] == 1


def test_where_there_is_no_issue_nobody_joins() -> None:
    assert all_of(AXES[:2], given=[]).memberships == (None, None)


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_the_strengths_of_a_record_sum_to_one(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    centroids = unit(rng.normal(size=(n, 8)).astype(np.float32))
    assignment = assign(unit(centroids[0] + 0.2 * rng.normal(size=8).astype(np.float32)), centroids)
    if assignment is not None:
        strengths = [assignment.strength, *(strength for _, strength in assignment.others)]
        assert sum(strengths) == pytest.approx(1.0)
        assert strengths == sorted(strengths, reverse=True)


def test_an_issue_grows_by_what_joins_it() -> None:
    vectors = np.stack([toward(0, 0.9), toward(5, 0.9)])
    matches = all_of(vectors, given=issues())
    joined, other = matches.memberships
    assert (joined.issue_id, joined.by) == ("i0", MemberBy.ASSIGNED)  # type: ignore[union-attr]
    assert other is None
    grown = matches.issues[0]
    assert (grown.members, grown.last_unix_nano) == (11, at(0))
    assert np.array(grown.centroid) @ vectors[0] > AXES[0] @ vectors[0]
    assert matches.issues[1:] == tuple(issues()[1:])


def test_late_records_move_the_beginning_and_not_the_end() -> None:
    known_issues = [issue("i0", centroid=tuple(AXES[0].tolist()), last_unix_nano=at(5))]
    grown = assign_all([failure("x", -3, route="/b")], AXES[:1], known_issues).issues[0]
    assert (grown.first_unix_nano, grown.last_unix_nano) == (at(-3), at(5))
    assert grown.routes == ("/b",)


def test_provisional_and_merged_issues_take_nobody() -> None:
    known_issues = [
        replace(issues()[0], is_provisional=True),
        replace(issues()[0], merged_into="i2"),
    ]
    assert all_of(AXES[:1], given=known_issues).memberships == (None,)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 60), max_size=4))
def test_the_result_does_not_depend_on_how_a_stream_is_cut(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    vectors = unit(AXES[rng.integers(0, 4, 60)] + 0.3 * rng.normal(size=(60, 8))).astype(np.float32)
    failures = [failure(str(n), n) for n in range(60)]
    whole = assign_all(failures, vectors, issues())
    known_issues, memberships = tuple(issues()), []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), 60], strict=True):
        piece = assign_all(failures[start:end], vectors[start:end], known_issues)
        known_issues = piece.issues
        memberships += piece.memberships
    assert tuple(memberships) == whole.memberships
    assert known_issues == whole.issues
