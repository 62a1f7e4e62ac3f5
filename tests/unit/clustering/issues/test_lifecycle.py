"""What time and new members do to an issue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.issues.forecast import Hour
from clustering.issues.lifecycle import FirstSeen, Pace, aged, is_from_later_release
from ragvigil.model.issue import TRIAGED, Issue, IssueState, IssueVerb
from tests.unit.clustering.issue_examples import DAY, HOUR, START, at, failure, issue

QUIET = [Hour(members=2, requests=1000)] * 100
SURGE = Hour(members=40, requests=1000)
NO_ESCALATION = (IssueState.RESOLVED, IssueState.ESCALATING)
STATES = st.sampled_from(list(IssueState))


def after(days: float, issue: Issue, hours: Sequence[Hour] = (), **more: Any) -> Issue:
    return aged(issue, START + days * DAY, Pace(hours=hours, **more))[0]


def test_a_new_issue_is_new_for_a_week() -> None:
    assert after(6.9, issue()).state is IssueState.NEW
    changed, (event,) = aged(issue(), START + 7 * DAY, Pace())
    assert (changed.state, changed.state_unix_nano) == (IssueState.ONGOING, at(7 * 24))
    assert (event.verb, event.text, event.actor) == (IssueVerb.AGED, "new for a week", "")


def test_what_has_no_new_member_for_two_weeks_is_stale_until_it_has() -> None:
    ongoing = issue(state=IssueState.ONGOING, last_unix_nano=at(24))
    assert after(14.9, ongoing).state is IssueState.ONGOING
    stale = after(15, ongoing)
    assert stale.state is IssueState.STALE
    assert after(20, stale).state is IssueState.STALE
    back = issue(state=IssueState.STALE, state_unix_nano=at(15 * 24), last_unix_nano=at(16 * 24))
    assert after(16.1, back).state is IssueState.ONGOING


def test_an_issue_whose_answers_all_left_is_stale_at_once_unless_a_person_has_it() -> None:
    empty, (event,) = aged(issue(members=0), START + HOUR, Pace())
    assert (empty.state, event.text) == (IssueState.STALE, "no answer is left in it")
    assert after(1, issue(members=1)).state is IssueState.NEW
    owned = issue(members=0, state=IssueState.ACKNOWLEDGED, assignee="okafor")
    assert after(1, owned).state is IssueState.ACKNOWLEDGED


def test_the_days_until_stale_are_an_argument() -> None:
    changed, _ = aged(issue(state=IssueState.ONGOING), START + DAY, Pace(), stale_seconds=DAY)
    assert changed.state is IssueState.STALE


def test_an_issue_escalates_and_calms_after_six_quiet_hours() -> None:
    ongoing = issue(state=IssueState.ONGOING, first_unix_nano=at(-200))
    escalating, (event,) = aged(ongoing, START, Pace(hours=[*QUIET, SURGE]))
    assert escalating.state is IssueState.ESCALATING
    assert event.text == "40 new members in an hour, more than forecast"
    still = [*QUIET, SURGE, *[SURGE] * 6]
    assert after(6 * HOUR / DAY, escalating, still).state is IssueState.ESCALATING
    calm = [*QUIET, SURGE, *QUIET[:6]]
    assert after(5 * HOUR / DAY, escalating, calm[:-1]).state is IssueState.ESCALATING
    assert after(6 * HOUR / DAY, escalating, calm).state is IssueState.ONGOING


def test_after_a_week_a_higher_rate_is_usual() -> None:
    escalating = issue(state=IssueState.ESCALATING, last_unix_nano=at(7 * 24))
    assert after(7, escalating, [SURGE] * 168).state is IssueState.ONGOING


def test_a_new_issue_does_not_escalate_against_the_time_before_it() -> None:
    nothing = [Hour(members=0, requests=1000)] * 100
    fresh = issue(first_unix_nano=at(-1))
    assert aged(fresh, START, Pace(hours=[*nothing, SURGE])) == (fresh, ())


@pytest.mark.parametrize(
    ("returned", "background", "is_back"),
    [(4, 0.0, False), (5, 0.0, True), (5, 2.5, True), (19, 10.0, False), (20, 10.0, True)],
)
def test_a_resolved_issue_is_back_from_five_members_or_twice_the_background(
    returned: int, background: float, is_back: bool
) -> None:
    resolved = issue(state=IssueState.RESOLVED, resolved_unix_nano=at(0))
    result = after(1, resolved, returned=returned, background=background)
    assert (result.state is IssueState.REGRESSED) == is_back
    assert result.issue_id == resolved.issue_id


SEEN = FirstSeen(
    service_versions={"1": at(-50), "2": at(-1), "3": at(5)},
    index_epochs={"e1": at(-50), "e2": at(6)},
)


@pytest.mark.parametrize(
    ("resolved_in", "named", "hours", "is_later"),
    [
        ("", {"service_version": "2"}, 8, False),
        ("", {"service_version": "3"}, 8, True),
        ("", {"service_version": "2", "index_epoch": "e2"}, 8, True),
        ("", {"service_version": "3"}, -1, False),
        ("", {}, 8, True),
        ("2", {"service_version": "1"}, 8, False),
        ("2", {"service_version": "2"}, 8, True),
        ("2", {"service_version": "1", "index_epoch": "e2"}, 8, False),
        ("e2", {"service_version": "3", "index_epoch": "e1"}, 8, False),
        ("e2", {"index_epoch": "e2"}, 8, True),
        ("4", {"service_version": "3"}, 8, False),
    ],
)
def test_only_a_later_release_brings_an_issue_back(
    resolved_in: str, named: dict[str, str], hours: float, is_later: bool
) -> None:
    resolved = issue(resolved_unix_nano=at(0), resolved_in=resolved_in)
    assert is_from_later_release(failure("x", hours, **named), resolved, SEEN) == is_later


def test_an_ignoring_ends_as_it_was_told_to() -> None:
    ignored = {"state": IssueState.IGNORED}
    assert after(90, issue(**ignored)).state is IssueState.IGNORED
    timed = issue(**ignored, ignored_until_unix_nano=at(24))
    assert after(0.9, timed).state is IssueState.IGNORED
    ended, (event,) = aged(timed, START + DAY, Pace())
    assert (ended.state, ended.ignored_until_unix_nano) == (IssueState.ONGOING, 0)
    assert event.verb is IssueVerb.CALMED
    counted = issue(**ignored, ignored_members=11)
    assert after(1, counted).state is IssueState.IGNORED
    assert after(1, issue(**ignored, ignored_members=10)).state is IssueState.ONGOING


def test_a_merged_issue_does_not_age() -> None:
    merged = issue(merged_into="b")
    assert aged(merged, START + 99 * DAY, Pace()) == (merged, ())


@given(STATES, st.booleans(), st.floats(0, 400), st.integers(0, 9), st.booleans())
def test_a_triaged_issue_never_becomes_stale_nor_loses_what_a_person_said(
    state: IssueState, is_owned: bool, days: float, returned: int, surges: bool
) -> None:
    issue_now = issue(
        state=state, assignee="ada" if is_owned else "", name="mine", is_name_frozen=True
    )
    changed = after(days, issue_now, [*QUIET, SURGE] if surges else (), returned=returned)
    assert (changed.name, changed.assignee) == (issue_now.name, issue_now.assignee)
    assert changed.state is not IssueState.STALE or state is IssueState.STALE
    if state in TRIAGED:
        grows = IssueState.REGRESSED if state is IssueState.RESOLVED else IssueState.ESCALATING
        assert changed.state in (state, grows)


@pytest.mark.parametrize("state", [state for state in IssueState if state not in NO_ESCALATION])
def test_an_issue_escalates_out_of_any_state(state: IssueState) -> None:
    owned = issue(state=state, assignee="ada", last_unix_nano=at(96))
    escalated = after(4, owned, [*QUIET, SURGE])
    assert escalated.state is IssueState.ESCALATING
    calm = after(12, escalated, [])
    assert calm.state is IssueState.ACKNOWLEDGED


@pytest.mark.parametrize("state", [IssueState.ACKNOWLEDGED, IssueState.IGNORED])
def test_what_somebody_silenced_escalates_by_a_later_hour_alone(state: IssueState) -> None:
    silenced = issue(state=state, assignee="ada", state_unix_nano=at(96.1), last_unix_nano=at(96))
    hours = [*QUIET, SURGE]
    assert after(96.2 / 24, silenced, hours).state is state
    assert after(97.9 / 24, silenced, hours).state is state
    assert after(98.1 / 24, silenced, hours).state is IssueState.ESCALATING


def test_a_new_issue_is_ongoing_once_somebody_has_looked() -> None:
    assert after(1, issue(assignee="ada")).state is IssueState.ONGOING
    assert after(1, issue()).state is IssueState.NEW


@given(STATES, st.floats(0, 400), st.floats(0, 400), st.integers(0, 9))
def test_time_that_stands_still_changes_an_issue_at_most_twice(
    state: IssueState, days: float, last: float, returned: int
) -> None:
    issue_now = issue(state=state, last_unix_nano=at(last * 24))
    now, pace = START + (days + last) * DAY, Pace(returned=returned)
    for _ in range(2):
        issue_now, events = aged(issue_now, now, pace)
        assert len(events) <= 1
    assert aged(issue_now, now, pace) == (issue_now, ())
