"""Who may apply which verb to a case, and the case afterwards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clustering.golden.case import BadCase
from clustering.golden.content import content_hash
from clustering.golden.verbs import Refused, edit, propose, reject, sign
from ragvigil.model.golden import CaseState, GoldenCase

RAW = GoldenCase(case_id="", question="How long?", trace_id="ab" * 16, record_id="cd" * 8)
OPEN = propose(RAW, "Ada", 10)


def test_a_proposal_has_an_id_of_its_trace_and_a_hash_of_its_content() -> None:
    assert OPEN.case_id == propose(RAW, "bob", 99).case_id
    assert (OPEN.state, OPEN.revision, OPEN.proposed_by) == (CaseState.PROPOSED, 1, "Ada")
    assert OPEN.content_hash == content_hash(OPEN)


def test_an_edit_changes_what_is_given_and_names_its_author() -> None:
    after = edit(OPEN, {"gold_answer": "5 days", "tags": ["edge"]}, "bob", 20)
    assert (after.gold_answer, after.tags, after.question) == ("5 days", ("edge",), "How long?")
    assert (after.edited_by, after.revision) == (("bob",), 2)
    assert after.content_hash == content_hash(after) != OPEN.content_hash
    assert edit(after, {"tags": ["late"]}, "ADA", 30).edited_by == ("bob",)


@pytest.mark.parametrize("actor", ["Ada", " ada ", "ADA", "Bob", "bob"])
def test_whoever_wrote_a_case_may_not_sign_it(actor: str) -> None:
    case = edit(OPEN, {"gold_answer": "5 days"}, "Bob", 20)
    with pytest.raises(Refused, match="somebody else must sign"):
        sign(case, actor, case.content_hash, 30, two_people=True)
    assert sign(case, actor, case.content_hash, 30, two_people=False).approved_by


def test_somebody_else_signs_what_they_saw() -> None:
    case = sign(OPEN, "eve", OPEN.content_hash, 30, two_people=True)
    assert (case.state, case.approved_by, case.approved_unix_nano) == (CaseState.SIGNED, "eve", 30)
    assert case.content_hash == OPEN.content_hash
    later = edit(OPEN, {"gold_answer": "5 days"}, "bob", 20)
    with pytest.raises(Refused, match="changed since you saw it"):
        sign(later, "eve", OPEN.content_hash, 30, two_people=True)


def test_a_content_that_is_not_its_hash_is_not_signed() -> None:
    forged = replace(OPEN, gold_answer="9 days")
    with pytest.raises(Refused, match="another content than its hash"):
        sign(forged, "eve", forged.content_hash, 30, two_people=True)


def test_a_signed_case_that_is_edited_must_be_signed_again_by_another() -> None:
    case = sign(OPEN, "eve", OPEN.content_hash, 30, two_people=True)
    with pytest.raises(Refused, match="is signed by eve"):
        sign(case, "bob", case.content_hash, 40, two_people=True)
    after = edit(case, {"gold_answer": "5 days"}, "eve", 40)
    assert (after.state, after.proposed_by, after.approved_by) == (CaseState.PROPOSED, "eve", "")
    assert after.revision == case.revision + 1
    with pytest.raises(Refused, match="somebody else"):
        sign(after, "eve", after.content_hash, 50, two_people=True)


def test_nobody_is_nobody() -> None:
    for name in ("", "  ", "\n"):
        with pytest.raises(Refused, match="a name is needed"):
            sign(OPEN, name, OPEN.content_hash, 30, two_people=True)


def test_an_edit_must_change_something_that_may_change() -> None:
    with pytest.raises(Refused, match="nothing of"):
        edit(OPEN, {"question": "How long?"}, "bob", 20)
    for key in ("case_id", "trace_id", "approved_by", "content_hash", "state"):
        with pytest.raises(BadCase, match="cannot be edited"):
            edit(OPEN, {key: "x"}, "bob", 20)


def test_only_proposals_are_declined_or_what_has_left_the_file() -> None:
    assert reject(OPEN, "bob", is_in_file=False).state is CaseState.REJECTED
    case = sign(OPEN, "eve", OPEN.content_hash, 30, two_people=True)
    with pytest.raises(Refused, match="take its line out"):
        reject(case, "bob", is_in_file=True)
    assert reject(case, "bob", is_in_file=False).state is CaseState.REJECTED
    with pytest.raises(Refused, match="rejected"):
        edit(reject(OPEN, "bob", is_in_file=False), {"question": "x"}, "bob", 40)
