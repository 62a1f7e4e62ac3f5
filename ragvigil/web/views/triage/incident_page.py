"""What the page of an incident says beside its findings: suspects and a heading. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ragvigil.model.audit import AuditState
from ragvigil.model.figures import duration, moment
from ragvigil.model.notice import CAUSES
from ragvigil.web.scope import UNIT, Clock
from ragvigil.web.views.audits import AuditForm
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.incidents import IncidentForm
from ragvigil.web.views.triage.next_step import kind_of
from ragvigil.web.views.triage.now_form import OpenIncidentForm
from ragvigil.web.views.triage.sentences import audit_lines

MOST_SUSPECTS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectView:
    """A change with whether it fits, and why."""

    change: ChangeForm
    fits: str
    why: str


def incident_heading(opened: OpenIncidentForm, now: datetime, clock: Clock = "utc") -> str:
    """What got worse, since when, and after which change."""
    since = moment(opened.incident.since, now) + UNIT[clock]
    change = opened.change if _is_behind(opened) else None
    after = f", after {change.words}" if change is not None else ""
    return f"{opened.heading}, since {since}{after}"


def incident_lead(opened: OpenIncidentForm, audits: Iterable[AuditForm]) -> str:
    """By how much, and what the judge found."""
    parts = [f"{opened.lead.rstrip('.')}." if opened.lead else ""]
    if opened.worse_support and opened.cell is not None:
        parts.append(f"Worse by {opened.worse}, {opened.worse_support}.")
    for audit in audits:
        steady = [each.rubric for each in audit.results if each.state is AuditState.STEADY]
        lines = [line for line in audit_lines(audit) if "is undecided" not in line]
        if audit.state is AuditState.DROPPED and lines and steady:
            parts.append(f"{lines[-1][0].upper()}{lines[-1][1:]}.")
    return " ".join(part for part in parts if part)


def suspects(incident: IncidentForm, changes: Sequence[ChangeForm]) -> list[SuspectView]:
    """The changes before it: its suspects, the likeliest first, then those that do not fit."""
    by_id = {notice_id: change for change in changes for notice_id in change.ids}
    own = list(dict.fromkeys(suspect.notice_id for suspect in incident.suspects))
    named = [by_id[notice_id] for notice_id in own if notice_id in by_id]
    unique = list({change.id: change for change in named}.values())
    others = [
        change
        for change in changes
        if change not in unique and incident.since and change.time <= incident.since
    ]
    views = [_suspect(incident, change, is_own=True) for change in unique]
    views += [_suspect(incident, change, is_own=False) for change in others]
    return views[:MOST_SUSPECTS]


def suspects_sentence(views: Sequence[SuspectView]) -> str:
    """How many fit."""
    fits = sum(view.fits == "fits" for view in views)
    if not views:
        return "Nothing changed before it"
    if fits == 1:
        return "One suspect fits"
    if fits:
        return f"{fits} suspects fit"
    may = sum(view.fits == "may fit" for view in views)
    if not may:
        return "No suspect fits"
    return "One suspect may fit" if may == 1 else f"{may} suspects may fit"


def _suspect(incident: IncidentForm, change: ChangeForm, *, is_own: bool) -> SuspectView:
    causes = CAUSES[kind_of(change)]
    lag = (incident.since - change.time).total_seconds() if incident.since else 0.0
    when = f"{duration(lag)} before" if lag >= 60 else "at the same time"
    share = "" if change.share >= 1 else f", {change.share:.0%} of requests"
    explains = f"; explains {' or '.join(causes)}" if causes else "; may explain anything"
    if not is_own:
        return SuspectView(change=change, fits="does not fit", why=f"{when}, too early{share}")
    if incident.cause is not None and causes and incident.cause not in causes:
        return SuspectView(change=change, fits="does not fit", why=f"{when}{share}{explains}")
    fits = "fits" if causes or incident.cause is None else "may fit"
    return SuspectView(change=change, fits=fits, why=f"{when}{share}{explains}")


def _is_behind(opened: OpenIncidentForm) -> bool:
    """Whether its change is a suspect of the incident, and no change long before."""
    ids = {suspect.notice_id for suspect in opened.incident.suspects}
    return opened.change is not None and bool(ids & set(opened.change.ids))
