"""What the page Now says first, where no incident is open."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ragvigil.model.incident import IncidentState
from ragvigil.model.issue import IssueState
from ragvigil.web.views.triage.now import Known, now_form
from ragvigil.web.views.triage.now_form import issue_link
from tests.failure_rows import issue
from tests.unit.ragvigil.web.views.triage.test_layers import FELL, NOON, delta
from tests.unit.ragvigil.web.views.triage.test_sentences import finding, incident


def known(*, signal: str, is_expected: bool, **changes: object) -> Known:
    ended = incident(
        finding(signal=signal, **changes),
        state=IncidentState.RESOLVED,
        resolved=NOON,
        is_expected=is_expected,
    )
    return Known(now=NOON, deltas=[delta(**FELL)], incidents=[ended], last_answer=NOON)


def test_a_drop_that_somebody_called_expected_is_no_news() -> None:
    said = now_form(known(signal="groundedness", is_expected=True))
    assert said.sentence == "Groundedness is lower, as expected"
    assert said.is_worse


def test_what_was_expected_of_all_routes_is_expected_of_each() -> None:
    said = now_form(known(signal="groundedness", is_expected=True, routes=[]))
    assert said.sentence == "Groundedness is lower, as expected"


@pytest.mark.parametrize(
    ("value", "reference", "is_news"),
    [(0.88, 0.95, False), (0.97, 1.0, True), (1.0, 0.95, True)],
)
def test_a_drop_beyond_the_expected_level_is_news(
    value: float, reference: float, *, is_news: bool
) -> None:
    """The mean fell to 0.90, give or take 0.05: to what was expected, further, or the other way."""
    found = {"signal": "groundedness", "is_expected": True}
    said = now_form(known(**found, value=value, reference=reference))
    assert said.sentence.startswith("No incident is open") is is_news


@pytest.mark.parametrize(("hours", "is_news"), [(-1, False), (1, True)])
def test_what_is_not_a_mean_is_compared_by_when_it_began(hours: int, *, is_news: bool) -> None:
    since = NOON + timedelta(hours=hours)
    said = known(signal="groundedness:failed", is_expected=True, value=0.3, reference=0.1)
    later = replace(said, deltas=[delta(**FELL, since=since)])
    assert now_form(later).sentence.startswith("No incident is open") is is_news


def test_a_drop_of_which_nobody_said_so_is() -> None:
    for signal, is_expected in (("groundedness", False), ("citation_coverage", True)):
        said = now_form(known(signal=signal, is_expected=is_expected))
        assert said.sentence.startswith("No incident is open, but groundedness")


def test_nothing_is_worse_where_no_route_is() -> None:
    said = now_form(Known(now=NOON, deltas=[delta()], last_answer=NOON))
    assert (said.sentence, said.is_worse) == ("Nothing is wrong", False)


def test_a_new_issue_of_a_few_answers_is_no_news_unless_it_is_an_incidents() -> None:
    issues = [
        issue("large", members=8),
        issue("small", members=7),
        issue("of-incident", members=3, incident_id="i1"),
        issue("back", members=3, state=IssueState.REGRESSED),
        issue("old", state=IssueState.ONGOING),
    ]
    said = now_form(Known(now=NOON, issues=[issue_link(each) for each in issues]))
    assert [each.issue_id for each in said.new_issues] == ["large", "of-incident", "back"]
    assert (said.small_issues, said.other_issues) == (1, 1)


def test_what_somebody_snoozed_is_no_news_and_what_they_did_not_is() -> None:
    until = {"state": IncidentState.SNOOZED, "snoozed_until": NOON + timedelta(hours=2)}
    asleep = incident(finding(signal="groundedness"), **until)
    said = now_form(Known(now=NOON, deltas=[delta(**FELL)], incidents=[asleep], last_answer=NOON))
    assert said.sentence == "Nothing else is wrong"
    assert "One incident is snoozed." in said.lead
    other = incident(finding(signal="citation_coverage"), **until)
    said = now_form(Known(now=NOON, deltas=[delta(**FELL)], incidents=[other], last_answer=NOON))
    assert said.sentence.startswith("No incident is open, but groundedness")
