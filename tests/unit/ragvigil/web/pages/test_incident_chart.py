"""The chart of an incident is in alarm from the incident's own minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ragvigil.store.engine.store import Store
from ragvigil.web.pages.incident_chart import drawn_chart
from ragvigil.web.views.incidents import incident_form
from ragvigil.web.views.triage.incident_reading import read_incident
from tests.flow.test_api import NOW
from tests.triage_store import desk
from tests.triage_watch import State


def test_it_is_in_alarm_from_the_incident_and_not_from_its_hour(store: Store) -> None:
    incident = incident_form(desk(store, State.ALARM).incidents[0], ())
    facts = read_incident(store, incident, datetime.fromtimestamp(NOW, UTC))

    def alarm(since: datetime) -> str:
        moved = incident.model_copy(update={"since": since})
        opened = facts.opened.model_copy(update={"incident": moved})
        drawn = drawn_chart(store, opened, facts.changes, facts.until)
        assert drawn is not None
        return drawn.chart.alarm

    assert incident.since is not None
    whole, later = alarm(incident.since), alarm(incident.since + timedelta(minutes=45))
    assert whole.count(" ") > later.count(" ") > 0
