"""Failing records matched to issues by the guards of these."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clustering.issues.ledger import IssueIndex
from clustering.issues.matching import match_guards, still_fits
from ragvigil.model.issue import MemberBy, Membership
from ragvigil.store.issues.failing_rows import KeptFailure
from tests.unit.clustering.issue_examples import failure, issue


def kept(name: str, *rubrics: str, home: str = "") -> KeptFailure:
    own = failure(name, rubrics=rubrics)
    membership = Membership(
        trace_id=own.trace_id,
        record_id=own.record_id,
        issue_id=home,
        by=MemberBy.GUARD,
        strength=1.0,
    )
    return KeptFailure(
        failure=own, masked="", received=0, digest=1, membership=membership if home else None
    )


@pytest.fixture
def index() -> IssueIndex:
    return IssueIndex([issue("a"), issue("b"), issue("other", service="shop")])


def test_every_guard_that_a_record_fails_is_tried(index: IssueIndex) -> None:
    guarded = {"of_shop": "other", "of_none": "gone", "of_b": "b"}
    records = [
        kept("1", "of_shop", "of_none", "of_b"),
        kept("2", "groundedness"),
        kept("3", "of_b"),
    ]
    placed = match_guards(records, index, guarded)
    assert [(record.key[0], home.issue_id) for record, home in placed.members] == [
        ("trace-1", "b"),
        ("trace-3", "b"),
    ]
    assert [(each.issue_id, each.members) for each in placed.issues] == [("b", 12)]


def test_what_a_guard_placed_stays_as_long_as_it_fails_one_of_that_issue(
    index: IssueIndex,
) -> None:
    record = kept("1", "of_b", "again_b", home="b")
    assert still_fits(record, index, {"of_b": "b"})
    assert still_fits(record, index, {"of_a": "a", "again_b": "b"})
    assert not still_fits(record, index, {})
    assert not still_fits(record, index, {"of_b": "a"})
    merged = replace(issue("b"), merged_into="a")
    assert still_fits(record, IssueIndex([issue("a"), merged]), {"of_b": "b"})
