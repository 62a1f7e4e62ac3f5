"""A fault that was there from the start is one page, with its true beginning."""

from __future__ import annotations

import pytest

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from alerts.settings import AlertsSettings
from alerts.signals.job import SignalJob
from ragvigil.model.incident import Severity
from ragvigil.store.engine.store import Store
from tests.outcomes import NOW, SECOND
from tests.unit.alerts.stored_requests import Served, write

pytestmark = pytest.mark.slow

MINUTE, HOUR = 60, 3600
NOON = NOW // SECOND // HOUR * HOUR - 10 * HOUR


def faulty(start: int, minutes: int) -> list[Served]:
    """Two requests a minute: two of three cite wrongly, and one of three refuses."""
    return [
        Served(
            number=(start - NOON) // MINUTE * 2 + place,
            time=start + place * 30,
            validity=1.0 if place % 3 == 0 else 0.5,
            label="refused" if place % 3 == 0 else "answered",
        )
        for place in range(2 * minutes)
    ]


@pytest.mark.parametrize("stored_hours", [0, 7], ids=["from the first span", "of a past import"])
def test_a_fault_from_before_the_first_span_is_one_page_since_the_beginning(
    store: Store, stored_hours: int
) -> None:
    before = stored_hours * 60
    if before:
        write(store, faulty(NOON, before))
    signals = SignalJob(store, AlertsSettings())
    incidents = IncidentJob(store, IncidentSettings(), clock=lambda: float(NOON))
    for minute in range(before, before + 120, 15):
        write(store, faulty(NOON + minute * MINUTE, 15))
        now = float(NOON + (minute + 16) * MINUTE)
        incidents.run(now, signals.run(now), ())
    (incident,) = incidents.open_incidents()
    assert incident.severity is Severity.PAGE
    assert len(incident.findings) == 2
    assert abs(incident.since_unix_nano // SECOND - NOON) <= 5 * MINUTE
    assert incidents.message(incident).since.startswith("the beginning of what is stored, ")
    assert incidents.pages().pages == 1


def test_a_fault_after_healthy_hours_has_its_own_time(store: Store) -> None:
    healthy = [Served(number=place, time=NOON + place * 30) for place in range(360)]
    write(store, [*healthy, *faulty(NOON + 180 * MINUTE, 20)])
    signals = SignalJob(store, AlertsSettings())
    incidents = IncidentJob(store, IncidentSettings(), clock=lambda: float(NOON))
    now = float(NOON + 201 * MINUTE)
    (incident,) = incidents.run(now, signals.run(now), ())
    assert abs(incident.since_unix_nano // SECOND - (NOON + 180 * MINUTE)) <= 5 * MINUTE
    assert "beginning" not in incidents.message(incident).since
