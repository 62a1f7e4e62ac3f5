"""What the API knows of incidents: the job's words, people's verbs, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from alerts.incidents.job import IncidentJob
from alerts.incidents.message import lines
from alerts.incidents.verbs import UnknownIncident, VerbDoesNotFit
from alerts.incidents.why import Known, why
from ragvigil.model.incident import Incident, Severity, Verb
from ragvigil.store.engine.store import Store
from ragvigil.store.records import received as heard
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import audits
from ragvigil.web.api.incidents import NoSuchIncident, VerbRefused

DAY = 86_400


class Ledger(Protocol):
    """What counts spans: the daemon's status."""

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        """The books, with `spans` and in it `in_spool`."""
        ...


class Incidents:
    """The API's `IncidentSource`."""

    def __init__(
        self,
        store: Store,
        job: IncidentJob,
        status: Ledger,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._job, self._status, self._clock = store, job, status, clock

    def lines(self, incident: Incident) -> Sequence[str]:
        """The message, at most six lines."""
        return lines(self._job.message(incident))

    def act(self, incident_id: str, verb: Verb, actor: str, text: str, until: float) -> Incident:
        """Does what a person says. Raises NoSuchIncident or VerbRefused."""
        try:
            return self._job.act(incident_id, verb, actor, text, until)
        except UnknownIncident as error:
            raise NoSuchIncident(str(error)) from error
        except VerbDoesNotFit as error:
            raise VerbRefused(str(error)) from error

    def why(self, service: str, route: str) -> Sequence[str]:
        """At most ten lines on a service and route; an empty name is all."""
        now = self._clock()
        since = max(0, int(now - DAY))
        came = heard.since(self._store, since, service=service, route=route)
        wanted = rubric_deltas.DeltaFilter(service=service, route=route, since=since)
        known = Known(
            now=now,
            incidents=[
                (one, self._job.message(one))
                for one in sorted(self._job.open_incidents(), key=_weight)
                if _is_of(one.service, service) and _touches(one, route)
            ],
            changes=[
                one
                for one in self._job.changes()
                if _is_of(one.service, service) and (not one.route or _is_of(one.route, route))
            ],
            audits=[
                one
                for one in audits.find(self._store, since=since, service=service)
                if not one.routes or not route or route in one.routes
            ],
            deltas=rubric_deltas.newest(self._store, wanted),
            last_record=came.last,
            records=came.records,
            routes=came.routes,
            waiting=self._status.ledger()["spans"]["in_spool"],
        )
        return why(known)


def _weight(incident: Incident) -> tuple[bool, int]:
    return (incident.severity is not Severity.PAGE, -incident.opened_unix_nano)


def _is_of(name: str, wanted: str) -> bool:
    return wanted in ("", name)


def _touches(incident: Incident, route: str) -> bool:
    return not route or any(route in one.routes or not any(one.routes) for one in incident.findings)
