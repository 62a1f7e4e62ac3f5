"""What people may do to an issue, and when."""

from __future__ import annotations

from typing import Any

import pytest

from clustering.issues.verbs import Act, VerbDoesNotFit, act
from ragvigil.model.issue import Issue, IssueState, IssueVerb
from tests.unit.clustering.issue_examples import DAY, START, at, issue


def after(verb: IssueVerb, before: Issue | None = None, **more: Any) -> Issue:
    return act(before or issue(), Act(verb=verb, now=START, actor="ada", **more))[0]


def event_text(verb: IssueVerb, **more: Any) -> str:
    return act(issue(), Act(verb=verb, now=START, actor="ada", **more))[1].text


def test_acknowledging_names_who_does_it() -> None:
    changed, event = act(issue(), Act(verb=IssueVerb.ACKNOWLEDGE, now=START, actor="ada"))
    assert (changed.state, changed.assignee) == (IssueState.ACKNOWLEDGED, "ada")
    assert changed.is_triaged
    assert (event.verb, event.actor, event.time_unix_nano) == ("acknowledge", "ada", at(0))


def test_resolving_keeps_the_release_and_the_time() -> None:
    resolved = after(IssueVerb.RESOLVE, release="2.5")
    assert (resolved.state, resolved.resolved_in) == (IssueState.RESOLVED, "2.5")
    assert resolved.resolved_unix_nano == at(0)
    assert event_text(IssueVerb.RESOLVE, release="2.5", text="new chunker") == "in 2.5: new chunker"


def test_ignoring_is_for_a_time_a_count_or_for_ever() -> None:
    assert after(IssueVerb.IGNORE, until=START + DAY).ignored_until_unix_nano == at(24)
    assert after(IssueVerb.IGNORE, count=5).ignored_members == issue().members + 5
    assert event_text(IssueVerb.IGNORE) == "for ever"
    assert event_text(IssueVerb.IGNORE, count=5) == "for 5 members"
    assert event_text(IssueVerb.IGNORE, until=START + DAY) == "until 2026-03-02 12:00 UTC"


@pytest.mark.parametrize(
    ("verb", "more", "why"),
    [
        (IssueVerb.IGNORE, {"until": START}, "needs one to come"),
        (IssueVerb.IGNORE, {"count": -1}, "a count is 1 or more"),
        (IssueVerb.RENAME, {"name": "  "}, "needs a name"),
        (IssueVerb.REOPEN, {}, "is open already"),
        (IssueVerb.MERGE, {}, "acknowledge, resolve, ignore, reopen, assign, rename"),
        (IssueVerb.ESCALATED, {}, "not done to one issue"),
    ],
)
def test_what_does_not_fit_says_why(verb: IssueVerb, more: dict[str, Any], why: str) -> None:
    with pytest.raises(VerbDoesNotFit, match=why):
        after(verb, **more)


@pytest.mark.parametrize("verb", [IssueVerb.ACKNOWLEDGE, IssueVerb.RESOLVE, IssueVerb.IGNORE])
def test_a_resolved_issue_is_reopened_first(verb: IssueVerb) -> None:
    resolved = after(IssueVerb.RESOLVE, release="2.5")
    with pytest.raises(VerbDoesNotFit, match="reopen it before you"):
        after(verb, resolved)
    reopened = after(IssueVerb.REOPEN, resolved)
    assert (reopened.state, reopened.resolved_in) == (IssueState.ONGOING, "")
    assert reopened.resolved_unix_nano == 0


def test_a_merged_issue_points_to_the_one_that_took_it() -> None:
    with pytest.raises(VerbDoesNotFit, match="say resolve to b"):
        after(IssueVerb.RESOLVE, issue(merged_into="b"))


def test_a_name_given_by_a_person_stays() -> None:
    renamed = after(IssueVerb.RENAME, name="  Old  terms ")
    assert (renamed.name, renamed.is_name_frozen, renamed.state) == ("Old terms", True, "new")
    assert event_text(IssueVerb.RENAME, name="Old terms") == "groundedness: a -> Old terms"


def test_assigning_changes_the_owner_alone() -> None:
    assert after(IssueVerb.ASSIGN, name="bob").assignee == "bob"
    assert event_text(IssueVerb.ASSIGN, name="bob", text="knows it") == "to bob: knows it"
    assert event_text(IssueVerb.ASSIGN) == "to nobody"
