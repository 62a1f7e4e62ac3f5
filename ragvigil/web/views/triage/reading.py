"""Reads what the page Now says from the store: few queries, however many routes there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ragvigil.model.incident import Incident, IncidentState
from ragvigil.store.engine.together import together
from ragvigil.store.issues import views as stored_issues
from ragvigil.store.records import received
from ragvigil.store.records.places import RoutePlace
from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.store.watch import audits, deploys, incidents, notices
from ragvigil.web.views.audits import AuditForm, audit_form
from ragvigil.web.views.changes import ChangeForm, changes
from ragvigil.web.views.deltas import DELTAS_SECONDS, DeltaForm, newest_deltas
from ragvigil.web.views.incidents import IncidentForm, incident_form
from ragvigil.web.views.triage.layers import Place
from ragvigil.web.views.triage.now import Known
from ragvigil.web.views.triage.now_form import LASTING, URGENT, IssueLinkForm, issue_link

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

DAY, WEEK = timedelta(days=1), timedelta(days=7)
LIVE = timedelta(hours=2)
"""Ticks come every five minutes while a route had answers within the last hours."""
MOST_LETTERS = 26
MOST_AUDITS = 50
Lines = Callable[[Incident], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NowFilter:
    """Which part of the traffic; an empty name is all."""

    service: str = ""
    environment: str = ""
    route: str = ""

    def matches(self, service: str, environment: str) -> bool:
        """Whether this place is asked for; an empty environment is that of all."""
        is_service = self.service in ("", service)
        return is_service and (self.environment in ("", environment) or not environment)


def read_now(
    store: Store,
    filter_: NowFilter,
    now: datetime,
    *,
    places: Sequence[RoutePlace],
    lines: Lines,
) -> Known:
    """What is known now; `lines` gives the message of an incident. Raises as `Store.read` does."""
    (found, changed), deltas, receipts, (audited, linked) = together(
        lambda: _incidents_and_changes(store, filter_, now, lines),
        lambda: _deltas(store, filter_, now),
        lambda: received.since(
            store, _seconds(now - DAY), service=filter_.service, route=filter_.route
        ),
        lambda: (_audits(store, filter_, now), _issues(store, filter_)),
    )
    return Known(
        now=now,
        deltas=deltas,
        places=[
            Place(place.service, place.environment, place.route)
            for place in places
            if filter_.matches(place.service, place.environment)
            and filter_.route in ("", place.route)
        ],
        incidents=found,
        changes=changed,
        audits=audited,
        issues=linked,
        answers=receipts.records,
        last_answer=datetime.fromtimestamp(receipts.last, UTC) if receipts.last else None,
    )


def _incidents_and_changes(
    store: Store, filter_: NowFilter, now: datetime, lines: Lines
) -> tuple[list[IncidentForm], list[ChangeForm]]:
    found = _incidents(store, filter_, now, lines)
    return found, _changes(store, filter_, now, found)


def _deltas(store: Store, filter_: NowFilter, now: datetime) -> list[DeltaForm]:
    wanted = DeltaFilter(
        service=filter_.service,
        environment=filter_.environment,
        route=filter_.route,
        window="6h",
        since=_seconds(now - LIVE),
    )
    return store.kept.of(
        ("now", filter_),
        lambda: newest_deltas(store, wanted, now, with_rates=False),
        lasts=True,
        new_seconds=DELTAS_SECONDS,
    )


def _audits(store: Store, filter_: NowFilter, now: datetime) -> list[AuditForm]:
    since = _seconds(now - WEEK)
    return [
        audit_form(audit)
        for audit in audits.find(store, since=since, service=filter_.service, limit=MOST_AUDITS)
        if filter_.matches(audit.service, audit.environment)
    ]


def _issues(store: Store, filter_: NowFilter) -> list[IssueLinkForm]:
    """Those that are open, newest first."""
    found = stored_issues.links(
        store, (*URGENT, *LASTING), service=filter_.service, route=filter_.route
    )
    return [
        issue_link(issue) for issue in found if filter_.matches(issue.service, issue.environment)
    ]


def _incidents(store: Store, filter_: NowFilter, now: datetime, lines: Lines) -> list[IncidentForm]:
    """Those of the last seven days, open ones however old they are."""
    wanted = incidents.IncidentFilter(service=filter_.service, since=_seconds(now - WEEK))
    return [
        incident_form(incident, lines(incident))
        for incident in incidents.find(store, wanted)
        if filter_.matches(incident.service, incident.environment)
        and _is_on(incident, filter_.route)
    ]


def _is_on(incident: Incident, route: str) -> bool:
    """Whether it is on this route; a finding without routes is on all."""
    return not route or any(
        route in finding.routes or not any(finding.routes) for finding in incident.findings
    )


def _changes(
    store: Store, filter_: NowFilter, now: datetime, found: Sequence[IncidentForm]
) -> list[ChangeForm]:
    """Changes of a week, and those since a day before the oldest open incident."""
    onsets = [
        incident.since
        for incident in found
        if incident.since and incident.state is not IncidentState.RESOLVED
    ]
    since = min([now - WEEK, *(onset - DAY for onset in onsets)])
    return read_changes(store, filter_, since, now)


def read_changes(
    store: Store, filter_: NowFilter, since: datetime, until: datetime
) -> list[ChangeForm]:
    """The changes of a time, newest first, each with its letter."""
    noticed, marks = together(
        lambda: notices.find(
            store, service=filter_.service, route=filter_.route, since=_seconds(since)
        ),
        lambda: deploys.find(store, service=filter_.service, since=_seconds(since)),
    )
    return changes(
        [each for each in noticed if filter_.matches(each.service, each.environment)],
        [each for each in marks if filter_.matches(each.service, each.environment)],
        until_nanos=(_seconds(until) + 1) * 10**9,
        most=MOST_LETTERS,
    )


def _seconds(time: datetime) -> int:
    return max(0, int(time.timestamp()))
