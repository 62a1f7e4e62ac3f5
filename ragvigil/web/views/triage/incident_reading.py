"""Reads what the page of an incident says beside the incident itself: few queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragvigil.store.issues import issues as stored_issues
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.store.watch import audits as stored_audits
from ragvigil.web.views.audits import AuditForm, AuditPairForm, audit_form, pair_forms
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.deltas import delta_form, followed_drops, judge_segments
from ragvigil.web.views.incidents import IncidentForm
from ragvigil.web.views.triage.layers import CellForm, RouteRowForm, route_rows
from ragvigil.web.views.triage.now import open_incident
from ragvigil.web.views.triage.now_form import OpenIncidentForm, issue_link
from ragvigil.web.views.triage.reading import DAY, LIVE, NowFilter, read_changes

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

AFTER = timedelta(hours=2)
"""What is shown after the end of an incident."""
NEAR = timedelta(hours=2)
"""An audit whose change lies this near to the onset is about the incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFacts:
    """An incident in sentences, with what it rests on.

    `cells` are the layers of its route now, empty once it is over; `pairs` are of the newest audit
    that has any; `until` is the end of the time that is shown.
    """

    opened: OpenIncidentForm
    changes: Sequence[ChangeForm]
    audits: Sequence[AuditForm]
    pairs: Sequence[AuditPairForm]
    cells: Sequence[CellForm]
    until: datetime


def read_incident(store: Store, incident: IncidentForm, now: datetime) -> IncidentFacts:
    """Raises as `Store.read` does."""
    onset = incident.since or incident.opened or now
    until = now if incident.resolved is None else min(now, incident.resolved + AFTER)
    place = NowFilter(service=incident.service, environment=incident.environment)
    changes = read_changes(store, place, onset - DAY, until)
    rows = _rows(store, incident, now) if incident.resolved is None else []
    issues = stored_issues.find(store, stored_issues.IssueFilter(service=incident.service))
    opened = open_incident(
        incident,
        rows,
        changes,
        [issue_link(issue) for issue in issues if issue.environment == incident.environment],
    )
    audits = [
        audit_form(audit)
        for audit in stored_audits.find(
            store, since=int((onset - DAY).timestamp()), service=incident.service
        )
    ]
    related = [audit for audit in audits if _is_about(audit, incident)]
    return IncidentFacts(
        opened=opened,
        changes=changes,
        audits=related,
        pairs=_pairs(store, related),
        cells=_cells(rows, opened),
        until=until,
    )


def _rows(store: Store, incident: IncidentForm, now: datetime) -> list[RouteRowForm]:
    filter_ = DeltaFilter(
        service=incident.service,
        environment=incident.environment,
        window="6h",
        since=int((now - LIVE).timestamp()),
    )
    time = int(now.timestamp())
    judges, drops = judge_segments(store, time), followed_drops(store, time)
    deltas = [
        delta_form(delta, [], judges, visible_drop=drops.get(delta.series))
        for delta in rubric_deltas.latest(store, filter_, time)
    ]
    return route_rows(deltas, [], [incident])


def _cells(rows: Iterable[RouteRowForm], opened: OpenIncidentForm) -> list[CellForm]:
    return [cell for row in rows if opened.route == row.route for cell in row.cells.values()]


def _is_about(audit: AuditForm, incident: IncidentForm) -> bool:
    """Whether an incident's finding came of it, or it came of the incident or of its suspects."""
    if audit.environment != incident.environment:
        return False
    begin = f"audit-{audit.audit_id}-"
    names = {finding.finding_id for finding in incident.findings}
    if any(name.startswith(begin) for name in names):
        return True
    if set(audit.sources) & (names | {suspect.notice_id for suspect in incident.suspects}):
        return True
    routes = {route for finding in incident.findings for route in finding.routes}
    is_near = incident.since is not None and abs(audit.anchor - incident.since) <= NEAR
    return is_near and bool(routes & {each.route for each in audit.routes})


def _pairs(store: Store, audits: Iterable[AuditForm]) -> list[AuditPairForm]:
    for audit in audits:
        if audit.pairs:
            return pair_forms(stored_audits.pairs_of(store, audit.audit_id))
    return []
