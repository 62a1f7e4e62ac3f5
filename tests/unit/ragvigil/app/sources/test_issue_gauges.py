"""What the gauges of issues are fed with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from prometheus_client import REGISTRY

from clustering.issues import metrics as issue_metrics
from ragvigil.app.sources import issue_gauges
from ragvigil.model.issue import IssueState
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from tests.issues import DAY, NANOS, NOW, failure, issue, keep
from tests.judged import RUBRICS
from tests.outcomes import outcome_of


def place(service: str, environment: str, route: str) -> tuple[str, str, str]:
    return (service, environment, route)


@pytest.fixture(autouse=True)
def nothing_shown() -> Iterator[None]:
    yield
    issue_metrics.show([], place)
    issue_metrics.show_open([])


@pytest.fixture
def store(store: Store) -> Store:
    """A store whose service has answered for three days: the first day makes no tickets."""
    at = (NOW - 3 * DAY) * NANOS
    outcome = outcome_of(99, time_unix_nano=at, received=at)
    (scored,) = outcome.records
    record = replace(scored.record, service="desk", environment="prod")
    rows = TraceRows(RUBRICS)
    rows.add(replace(outcome, records=(replace(scored, record=record),)))
    store.write(rows.take())
    rollups.recompute(store, {at // NANOS // 60 * 60})
    return store


def told() -> dict[str, str]:
    """What is seen of each issue that is exposed."""
    return {
        sample.labels["issue"]: sample.labels["seen"]
        for family in REGISTRY.collect()
        for sample in family.samples
        if sample.name == "ragvigil_issue_message"
    }


def test_members_of_merged_issues_count_for_the_one_they_are_part_of(store: Store) -> None:
    kept, merged = issue("i1", members=8), issue("i2", merged_into="i1")
    keep(store, [failure(n) for n in range(5)], kept)
    keep(store, [failure(n) for n in range(10, 13)], merged)
    issue_gauges.show(store, [kept, merged], place, NOW)
    assert told() == {"i1": "8 seen"}
    labels = {"service": "desk", "environment": "prod", "state": "new"}
    assert REGISTRY.get_sample_value("ragvigil_issues", labels) == 1


def test_eight_members_on_one_day_make_a_small_issue_a_ticket(store: Store) -> None:
    growing, quiet = issue("i1", members=8), issue("i2", members=8)
    keep(store, [failure(n) for n in range(8)], growing)
    keep(store, [failure(10 + n, ago=n * 86_400) for n in range(8)], quiet)
    issue_gauges.show(store, [growing, quiet], place, NOW)
    assert told() == {"i1": "8 seen"}


def test_a_services_first_day_makes_no_ticket(store: Store) -> None:
    keep(store, [failure(n) for n in range(8)], early := issue("i1", members=8, service="other"))
    issue_gauges.show(store, [early], place, NOW)
    assert told() == {}


def test_what_somebody_has_is_told_no_more(store: Store) -> None:
    back = issue(state=IssueState.REGRESSED)
    keep(store, [failure(1)], back)
    issue_gauges.show(store, [back], place, NOW)
    assert list(told()) == ["i1"]
    issue_gauges.show(store, [issue(state=IssueState.ACKNOWLEDGED)], place, NOW)
    assert told() == {}
