"""Issues by exact key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from clustering.issues.provisional import KeyMatches, group
from ragvigil.model.issue import Failure, FailureKind, Issue, MemberBy
from tests.unit.clustering.issue_examples import at, failure

THREE = [failure("a", 0), failure("b", 1, route="/help"), failure("c", 2)]


def always(_: Sequence[Failure]) -> bool:
    return True


def never(_: Sequence[Failure]) -> bool:
    return False


def grouped(failures: Sequence[Failure], issues: Sequence[Issue] = ()) -> KeyMatches:
    return group(failures, issues, always, at(3))


def test_three_records_of_one_key_open_an_issue() -> None:
    matches = grouped(THREE)
    (opened,) = matches.issues
    assert (opened.members, opened.routes, opened.is_provisional) == (3, ("/ask", "/help"), True)
    assert opened.name == "Answers make claims that no chunk supports"
    assert (opened.first_unix_nano, opened.last_unix_nano) == (at(0), at(2))
    assert {membership.key for membership in matches.memberships} == {
        failure.key for failure in THREE
    }
    assert {(membership.by, membership.strength) for membership in matches.memberships} == {
        (MemberBy.KEY, 1.0)
    }
    assert matches.waiting == ()


def test_two_records_wait_and_so_does_what_does_not_stand_out() -> None:
    assert grouped(THREE[:2]).waiting == tuple(THREE[:2])
    quiet = group(THREE, [], never, at(3))
    assert (quiet.issues, quiet.waiting) == ((), tuple(THREE))


def test_an_open_issue_takes_the_next_record_of_its_key() -> None:
    issues = grouped(THREE).issues
    later = group([failure("d", 9)], issues, never, at(9))
    assert later.memberships[0].issue_id == issues[0].issue_id
    assert (later.issues[0].members, later.issues[0].last_unix_nano) == (4, at(9))


def test_another_label_family_or_service_is_another_key() -> None:
    others = [failure("d", label="contradicted"), failure("e", service="shop")]
    assert set(grouped([*THREE, *others]).waiting) == set(others)


def test_errors_and_thumbs_down_have_keys_of_their_own() -> None:
    kinds = (FailureKind.ERROR, FailureKind.THUMBS_DOWN)
    matches = grouped(
        [replace(failure(f"{kind}{n}"), kind=kind) for kind in kinds for n in range(3)]
    )
    assert {(issue.rubric, issue.label) for issue in matches.issues} == {
        ("", "error"),
        ("", "thumbs_down"),
    }
    assert {issue.name for issue in matches.issues} == {
        "Answers end in an error · on /ask",
        "Answers are disliked by their users · on /ask",
    }


def test_a_key_whose_issue_was_refined_opens_another_beside_it() -> None:
    (first,) = grouped(THREE).issues
    refined = replace(first, is_provisional=False)
    (second,) = grouped([failure("d", 5), failure("e", 6), failure("f", 7)], [refined]).issues
    assert second.issue_id != first.issue_id


@given(st.permutations([*THREE, failure("d", label="x"), *(failure(f"e{n}", label="y") for n in range(4))]))  # fmt: skip # noqa: E501
def test_the_order_of_arrival_changes_nothing(failures: list[Failure]) -> None:
    assert grouped(failures) == grouped(sorted(failures, key=lambda failure: failure.trace_id))


def test_a_start_from_the_store_finds_the_same_ids() -> None:
    assert grouped(THREE).issues == grouped(list(reversed(THREE))).issues
