"""The API's incidents: their messages, people's verbs, and `ragvigil why`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from alerts.incidents.job import IncidentJob
from alerts.incidents.message import lines
from alerts.incidents.verbs import UnknownIncident, VerbDoesNotFit
from alerts.incidents.why import Situation, why
from clustering.issues.metrics import URGENT
from ragvigil.model.delta import judged_first
from ragvigil.model.incident import Incident, Severity, Verb
from ragvigil.model.issue import Issue
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import issues as stored_issues
from ragvigil.store.records import received
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import audits
from ragvigil.store.watch.drift import visible_drops
from ragvigil.web.api.incidents import NoSuchIncident, VerbRefused

DAY = 86_400


class Progress(Protocol):
    """Counts spans, and says how far the core is with them; the daemon's status does."""

    def behind(self) -> str:
        """How many spans wait, and how long they take, in a line; empty while few do."""
        ...

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        """The ledger; `spans` in it has `in_spool`."""
        ...


class Incidents:
    """The API's `IncidentSource`."""

    def __init__(
        self,
        store: Store,
        job: IncidentJob,
        status: Progress,
        clock: Callable[[], float] = time.time,
        judge_lines: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._store, self._job, self._status, self._clock = store, job, status, clock
        self._judge_lines = judge_lines

    def lines(self, incident: Incident) -> Sequence[str]:
        """The message, at most six lines."""
        return lines(self._job.message(incident))

    def act(
        self, incident_id: str, verb: Verb, actor: str, text: str, until: float, name: str
    ) -> Incident:
        """Applies a person's verb. Raises NoSuchIncident or VerbRefused."""
        try:
            return self._job.act(incident_id, verb, actor, text, until, name)
        except UnknownIncident as error:
            raise NoSuchIncident(str(error)) from error
        except VerbDoesNotFit as error:
            raise VerbRefused(str(error)) from error

    def why(self, service: str, route: str) -> Sequence[str]:
        """At most ten lines on a service and route; an empty name matches all."""
        now = self._clock()
        since = max(0, int(now - DAY))
        records = received.since(self._store, since, service=service, route=route)
        filter_ = rubric_deltas.DeltaFilter(service=service, route=route, since=since)
        known = Situation(
            now=now,
            incidents=[
                (incident, self._job.message(incident))
                for incident in sorted(self._job.open_incidents(), key=_urgency)
                if _matches(incident.service, service) and _is_on(incident, route)
            ],
            issues=self._issues(since, service, route),
            changes=[
                change
                for change in self._job.changes()
                if _matches(change.service, service)
                and (not change.route or _matches(change.route, route))
            ],
            audits=[
                audit
                for audit in audits.find(self._store, since=since, service=service)
                if not audit.routes or not route or route in audit.routes
            ],
            deltas=judged_first(rubric_deltas.latest(self._store, filter_, int(now))),
            visible_drops=self._visible_drops(int(now), service, route),
            last_record=records.last,
            records=records.records,
            routes=records.routes,
            waiting=self._status.ledger()["spans"]["in_spool"],
            behind=self._status.behind(),
            judge=self._judge_lines(),
        )
        return why(known)

    def _visible_drops(self, now: int, service: str, route: str) -> dict[str, float]:
        """The smallest drop that would page if it lasted a day, on the best route by rubric."""
        smallest: dict[str, float] = {}
        for series, drop in visible_drops(self._store, now - 2 * DAY).items():
            if _matches(series.service, service) and _matches(series.route, route):
                smallest[series.rubric] = min(drop, smallest.get(series.rubric, 1.0))
        return {rubric: drop for rubric, drop in smallest.items() if ":" not in rubric}

    def _issues(self, since: int, service: str, route: str) -> list[Issue]:
        """Issues that are new, grow or came back, and had a failing answer since then."""
        filter_ = stored_issues.IssueFilter(service=service, route=route, states=URGENT)
        issues = stored_issues.find(self._store, filter_)
        issues = [issue for issue in issues if issue.last_unix_nano >= since * 10**9]
        return sorted(issues, key=lambda issue: (URGENT.index(issue.state), -issue.members))


def _urgency(incident: Incident) -> tuple[bool, int]:
    """Pages first, then the newest."""
    return (incident.severity is not Severity.PAGE, -incident.opened_unix_nano)


def _matches(name: str, filter_: str) -> bool:
    return filter_ in ("", name)


def _is_on(incident: Incident, route: str) -> bool:
    """Whether it is on this route; a finding without routes is on all."""
    return not route or any(
        route in finding.routes or not any(finding.routes) for finding in incident.findings
    )
