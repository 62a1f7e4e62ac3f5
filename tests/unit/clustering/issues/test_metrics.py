"""The metrics of issues."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from prometheus_client import REGISTRY, generate_latest

from alerts.deltas.metrics import OTHER, RouteCap
from clustering.issues import metrics
from clustering.issues.counts import Count
from clustering.issues.message import message
from clustering.issues.metrics import LEAST_A_DAY, LEAST_MEMBERS, MOST_OPEN, ExposedIssue
from ragvigil.model.issue import Issue, IssueState
from tests.issues import failure, issue

Labels = dict[str, str]


def place(service: str, environment: str, route: str) -> tuple[str, str, str]:
    return (service, environment, route)


@pytest.fixture(autouse=True)
def nothing_shown() -> Iterator[None]:
    yield
    metrics.show([], place)
    metrics.show_open([])


def samples(name: str) -> list[tuple[Labels, float]]:
    return [
        (sample.labels, sample.value)
        for family in REGISTRY.collect()
        for sample in family.samples
        if sample.name == name
    ]


def shown(issue: Issue, *days: int) -> ExposedIssue:
    count = Count(seen=issue.members, about=issue.members, low=issue.members, high=issue.members)
    return ExposedIssue(issue=issue, days=days, message=message(issue, count))


def open_issues() -> list[str]:
    return [labels["issue"] for labels, _ in samples("ragvigil_issue_open")]


def test_issues_are_counted_by_state_with_the_states_that_none_is_in() -> None:
    metrics.show([issue("i1"), issue("i2"), issue("i3", state=IssueState.STALE)], place)
    by_state = {labels["state"]: value for labels, value in samples("ragvigil_issues")}
    assert by_state == {state.value: 0 for state in IssueState} | {"new": 2, "stale": 1}
    metrics.show([], place)
    assert samples("ragvigil_issues") == []


def test_services_beyond_the_bound_share_one_value() -> None:
    services = ("desk", "shop", "bank")
    found = [issue(name, service=name) for name in services]
    metrics.show(found, RouteCap(limit=1).labels)
    new = {
        labels["service"]: value
        for labels, value in samples("ragvigil_issues")
        if labels["state"] == "new"
    }
    assert new == {"desk": 1, OTHER: 2}


@pytest.mark.parametrize(
    ("fields", "days", "is_told"),
    [
        ({"members": 3}, (0, 3), False),
        ({"members": LEAST_MEMBERS - 1}, (6, 6, 7), False),
        ({"members": LEAST_MEMBERS}, (6, 7, 7), True),
        ({"members": LEAST_A_DAY}, (LEAST_A_DAY, 0), True),
        ({"members": 8, "is_provisional": False}, (1,) * 8, True),
        ({"members": 3, "state": IssueState.REGRESSED}, (3,), True),
        ({"members": 3, "state": IssueState.ESCALATING}, (3,), True),
        ({"members": 900, "state": IssueState.ONGOING}, (900,), False),
        ({"members": 900, "state": IssueState.ACKNOWLEDGED}, (900,), False),
    ],
)
def test_a_small_provisional_issue_that_does_not_grow_is_no_ticket(
    fields: dict[str, object], days: tuple[int, ...], is_told: bool
) -> None:
    metrics.show_open([shown(issue(**fields), *days)])
    assert open_issues() == (["i1"] if is_told else [])


def test_an_open_issue_is_one_series_with_its_message_beside_it() -> None:
    metrics.show_open([shown(issue())])
    ((labels, value),) = samples("ragvigil_issue_open")
    assert value == 1
    assert labels == {
        "issue": "i1", "service": "desk", "environment": "prod", "state": "new",
        "layer": "generation",
    }  # fmt: skip
    ((words, _),) = samples("ragvigil_issue_message")
    assert words["issue"] == "i1"
    assert words["seen"] == "22 seen"
    metrics.show_open([shown(issue(members=23))])
    ((words, _),) = samples("ragvigil_issue_message")
    assert words["seen"] == "23 seen"


def test_beyond_the_bound_the_urgent_and_the_old_are_exposed_and_the_rest_counted() -> None:
    old = [issue(f"n{n:03}", opened_unix_nano=n) for n in range(MOST_OPEN + 3)]
    back = issue("back", state=IssueState.REGRESSED, opened_unix_nano=10**6)
    metrics.show_open(map(shown, [*reversed(old), back]))
    assert set(open_issues()) == {"back"} | {f"n{n:03}" for n in range(MOST_OPEN - 1)}
    assert samples("ragvigil_issues_hidden") == [({}, 4)]


def test_members_are_counted_by_route_and_family_as_they_join() -> None:
    labels = {"service": "desk", "environment": "t1", "route": "/refunds", "family": "generation"}
    for _ in range(2):
        metrics.count_members([failure(1, environment="t1")], place)
    assert REGISTRY.get_sample_value("ragvigil_issue_members_total", labels) == 2


def test_no_name_of_a_service_breaks_the_exposition() -> None:
    odd = {"service": 'a"b\nc\ud800', "name": "two\nlines\udfff"}
    metrics.show([issue(**odd)], place)
    metrics.show_open([shown(issue(**odd))])
    metrics.count_members([failure(1, service="\ud800")], place)
    assert b'service="a\\"b\\\\nc\\\\ud800"' in generate_latest(REGISTRY)
