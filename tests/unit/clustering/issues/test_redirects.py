"""Which issues a list shows, and where a merged one leads."""

from __future__ import annotations

import pytest

from clustering.issues.redirects import IssueRedirects
from ragvigil.model.issue import IssueState
from ragvigil.store.issues.issues import IssueFilter
from tests.issues import issue

EMPTIED = issue("emptied", members=0, state=IssueState.STALE)
TAKEN = issue("taken", members=0, assignee="okafor")
ISSUES = (issue("full"), EMPTIED, TAKEN, issue("part", members=0, merged_into="full"))


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (IssueFilter(), ["full", "taken"]),
        (IssueFilter(states=(IssueState.STALE,)), ["emptied"]),
        (IssueFilter(text="emptied"), ["emptied"]),
        (IssueFilter(text="part"), []),
    ],
)
def test_an_issue_without_answers_is_listed_by_its_state_or_id_alone(
    filter_: IssueFilter, expected: list[str]
) -> None:
    found = IssueRedirects(ISSUES).find(filter_)
    assert [each.issue_id for each in found] == expected


def test_a_merged_issue_leads_to_the_one_that_it_is_part_of() -> None:
    redirects = IssueRedirects(ISSUES)
    home = redirects.home("part")
    assert home is not None
    assert (home.issue_id, redirects.ids([home])) == ("full", ["full", "part"])
