"""One fault is one incident and at most one page; two faults are two. With the real detectors."""

from __future__ import annotations

import pytest

from ragvigil.model.incident import IncidentState
from tests.unit.alerts.fault_traffic import FAULTS, ROUTES, Onset, Service, routes_of

PAST_HOURS = 48
AT = 20


@pytest.mark.parametrize("fault", ["nothing retrieved", "over-refusal", "chunker"])
def test_one_fault_is_one_incident_and_over_soon_after_its_fix(fault: str) -> None:
    onset = Onset(fault=fault, routes=ROUTES, minute=AT, until=AT + 60)
    service = Service([onset], seed=7, past_hours=PAST_HOURS)
    service.run(AT + 60 + 45)
    (incident,) = service.incidents
    assert len(service.pages) <= 1
    assert abs(service.minute(incident.since_unix_nano) - AT) <= 10
    assert incident.state is IncidentState.RESOLVED
    assert service.minute(incident.resolved_unix_nano) - (AT + 60) <= 25


@pytest.mark.parametrize(
    ("first", "second", "gap"),
    [
        ("citations off", "nothing retrieved", 5),
        ("chunker", "truncation", 30),
        ("top-k", "over-refusal", 5),
    ],
)
def test_faults_on_other_routes_are_two_incidents(first: str, second: str, gap: int) -> None:
    ours, others = ROUTES[:2], ROUTES[2:]
    onsets = [
        Onset(fault=first, routes=ours, minute=AT),
        Onset(fault=second, routes=others, minute=AT + gap),
    ]
    service = Service(onsets, seed=3, past_hours=PAST_HOURS)
    incidents = service.run(AT + gap + 45)
    routes = [routes_of(incident) for incident in incidents]
    assert any(each <= set(ours) for each in routes), routes
    assert any(each <= set(others) for each in routes), routes


def test_two_faults_of_different_layers_on_one_route_are_two_incidents() -> None:
    onsets = [
        Onset(fault="chunker", routes=ROUTES, minute=AT),
        Onset(fault="truncation", routes=ROUTES, minute=AT + 30),
    ]
    service = Service(onsets, seed=3, past_hours=PAST_HOURS)
    incidents = service.run(AT + 75)
    causes = {incident.cause for incident in incidents}
    assert causes == {FAULTS["chunker"].cause, FAULTS["truncation"].cause}


def test_a_healthy_service_opens_no_page() -> None:
    service = Service([], seed=1, past_hours=PAST_HOURS)
    service.run(180)
    assert not service.pages
