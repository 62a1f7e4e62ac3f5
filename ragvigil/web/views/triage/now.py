"""From what the store holds to what the page Now says. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ragvigil.model.figures import counted, duration, in_points, listed, spelled
from ragvigil.model.finding import FindingKind, goes_beyond
from ragvigil.model.incident import IncidentState, Severity
from ragvigil.model.issue import LEAST_TOLD, IssueState
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.web.rubric_names import base_of, is_about, rubric_name
from ragvigil.web.views.audits import AuditForm
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.deltas import DeltaForm
from ragvigil.web.views.incidents import FindingForm, IncidentForm
from ragvigil.web.views.triage import next_step
from ragvigil.web.views.triage.layers import (
    CellForm,
    Place,
    RouteRowForm,
    State,
    findings_on,
    has_corpus_measure,
    route_rows,
    sight_sentence,
    table_sentence,
)
from ragvigil.web.views.triage.now_form import (
    URGENT,
    IssueLinkForm,
    NowForm,
    OpenIncidentForm,
    now_audit,
)
from ragvigil.web.views.triage.sentences import (
    heading,
    layer_words,
    main_finding,
    owner_words,
    state_words,
    worse_by,
)

DAY = timedelta(days=1)
SILENT = timedelta(hours=1)
"""After so long without an answer nothing can be said of now; as `ragvigil why` has it."""
NEAR = timedelta(minutes=30)
"""An issue that began this close to an incident is its issue."""

EXPECTED = (
    "Somebody called its incident expected. It is compared with the seven days before, and shown "
    "as worse until most of these have the new level."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known at a time; `incidents` are of 7 days, `places` the routes of a day."""

    now: datetime
    deltas: Sequence[DeltaForm] = ()
    places: Sequence[Place] = ()
    incidents: Sequence[IncidentForm] = ()
    changes: Sequence[ChangeForm] = ()
    audits: Sequence[AuditForm] = ()
    issues: Sequence[IssueLinkForm] = ()
    answers: int = 0
    last_answer: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A mean and that of before, with the bounds of the change."""

    value: float
    reference: float
    low: float | None
    high: float | None


def now_form(known: Known) -> NowForm:
    """Says whether something is wrong, and everything the page shows."""
    open_ = sorted(
        (each for each in known.incidents if each.state is not IncidentState.RESOLVED),
        key=_urgency,
    )
    rows = route_rows(known.deltas, known.places, open_)
    incidents = [open_incident(incident, rows, known.changes, known.issues) for incident in open_]
    sentence, lead = _answer(known, incidents, rows)
    running = [audit for audit in known.audits if audit.ended is None]
    ended = [audit for audit in known.audits if audit.ended is not None]
    resolved = [each for each in known.incidents if each.resolved is not None]
    small = sum(map(_is_small, known.issues))
    new = [issue for issue in known.issues if issue.state in URGENT and not _is_small(issue)]
    return NowForm(
        sentence=sentence,
        lead=lead,
        is_alarm=any(not _is_snoozed(each.incident) for each in incidents),
        incidents=incidents,
        table=table_sentence(rows),
        routes=rows,
        has_corpus_measure=has_corpus_measure(known.deltas),
        changes=_changes(known, incidents),
        audits=[now_audit(audit, known.changes) for audit in running],
        last_audit=now_audit(ended[0], known.changes) if ended else None,
        new_issues=new,
        small_issues=small,
        other_issues=len(known.issues) - len(new) - small,
        answers=known.answers,
        last_answer=known.last_answer,
        last_resolved=max(resolved, key=lambda each: each.resolved or known.now, default=None),
    )


def open_incident(
    incident: IncidentForm,
    rows: Sequence[RouteRowForm],
    changes: Sequence[ChangeForm],
    issues: Sequence[IssueLinkForm],
) -> OpenIncidentForm:
    """An incident in sentences, beside the state of its route."""
    finding = main_finding(incident)
    row = _row_of(incident, rows)
    change, is_suspect = next_step.likeliest(incident, changes)
    fix = next_step.fix_of(incident, changes)
    clearest = next_step.clearest_cell(incident, row)
    worse = worse_by(finding, next_step.cell_of(incident, row)) if finding else ("", "")
    routes = [route for route in finding.routes if route] if finding else []
    return OpenIncidentForm(
        incident=incident,
        heading=heading(incident),
        lead=_lead(incident, rows),
        state=state_words(incident),
        owner=owner_words(incident),
        route=routes[0] if len(routes) == 1 else "",
        rubric=clearest.rubric if clearest else base_of(finding.signal) if finding else "",
        cell=clearest,
        worse=worse[0],
        worse_support=worse[1],
        layer_support=layer_words(incident) or _beside(incident.cause, row),
        change=change,
        change_support=_change_support(incident, change, is_suspect=is_suspect),
        issue=_issue_of(incident, issues),
        next=next_step.next_step(incident, change, fix, row),
    )


def _answer(
    known: Known, incidents: Sequence[OpenIncidentForm], rows: Sequence[RouteRowForm]
) -> tuple[str, str]:
    """The heading of the page, and the sentence under it."""
    awake = [each for each in incidents if not _is_snoozed(each.incident)]
    if awake:
        return awake[0].heading, awake[0].lead
    if known.last_answer is None:
        return "No answer has arrived yet", ""
    silence = known.now - known.last_answer
    if silence > SILENT:
        since = duration(silence.total_seconds())
        return f"No answer has come for {since}", "What is shown below is as old as that."
    worse = [(row, cell) for row in rows for cell in row.cells.values() if cell.state.is_alarm]
    snoozed = [each.incident for each in incidents]
    worse = [each for each in worse if not _is_of_one(*each, snoozed)]
    expected = [incident for incident in known.incidents if incident.is_expected]
    unexpected = [each for each in worse if not _is_of_one(*each, expected)]
    if worse and not unexpected:
        name = rubric_name(worse[0][1].rubric).capitalize()
        return f"{name} is lower, as expected", EXPECTED
    if unexpected:
        row, cell = unexpected[0]
        lead = "A drop in a mean becomes an incident once it lasts, or once an audit confirms it."
        return f"No incident is open, but {rubric_name(cell.rubric)} on {row.route} is worse", lead
    heading = "Nothing else is wrong" if snoozed else "Nothing is wrong"
    return heading, _quiet(rows, snoozed=len(snoozed))


def _is_of_one(row: RouteRowForm, cell: CellForm, incidents: Iterable[IncidentForm]) -> bool:
    """Whether one of these incidents was about this rubric on this route, as far as it is now."""
    place = Place(row.service, row.environment, row.route)
    return any(
        is_about(finding.signal, cell.rubric) and _is_as_far(cell, finding, incident)
        for incident in incidents
        for finding in findings_on(place, [incident], with_cleared=True)
    )


def _is_as_far(cell: CellForm, finding: FindingForm, incident: IncidentForm) -> bool:
    """Whether a mean is no further away than the level that somebody called expected.

    Where the finding counted something else, a drop that began after that word is another one.
    """
    if finding.signal != cell.rubric or cell.mean is None or cell.delta is None:
        return not (cell.since and incident.resolved and cell.since > incident.resolved)
    change = _Change(
        value=cell.mean, reference=cell.mean - cell.delta, low=cell.low, high=cell.high
    )
    return finding.value is None or not goes_beyond(change, finding.value)


def _quiet(rows: Sequence[RouteRowForm], *, snoozed: int) -> str:
    holds = sum(row.state is State.HOLDS for row in rows)
    layers = "every layer that can be measured"
    parts = []
    if holds == 1 == len(rows):
        parts.append(f"The route holds on {layers}.")
    elif holds:
        which = "All" if holds == len(rows) else f"{holds} of"
        parts.append(f"{which} {len(rows)} routes hold on {layers}.")
    parts.append(sight_sentence(rows))
    if unknown := sum(row.unknown for row in rows):
        every = sum(len(row.cells) for row in rows)
        verb = "has" if unknown == 1 else "have"
        parts.append(f"{unknown} of {every} layers {verb} not enough answers yet.")
    if snoozed:
        verb = "incidents are" if snoozed > 1 else "incident is"
        parts.append(f"{spelled(snoozed).capitalize()} {verb} snoozed.")
    return " ".join(part for part in parts if part)


def _lead(incident: IncidentForm, rows: Sequence[RouteRowForm]) -> str:
    """What the main finding counted, and how the other routes are."""
    finding = main_finding(incident)
    words = _counted(finding) if finding else ""
    own = {route for each in incident.findings for route in each.routes if route}
    others = [row for row in rows if row.route not in own]
    if not own or not others or len(others) == len(rows):
        return words
    moved = [row for row in others if not row.is_calm]
    if not moved:
        which = f"other {spelled(len(others))} routes hold" if len(others) > 1 else "other holds"
        return f"{words} The {which}.".strip()
    names = listed([row.route for row in moved], 2)
    return f"{words} Of the others, {names} moved, too.".strip()


def _counted(finding: FindingForm) -> str:
    """What a finding counted; an audit's own words have its interval in brackets."""
    if finding.kind is FindingKind.AUDIT:
        pairs = counted(finding.n, "pair")
        return f"The judge confirms it on {pairs} of answers from before and after the change."
    return f"{finding.words[:1].upper()}{finding.words[1:]}." if finding.words else ""


def _beside(cause: Cause | None, row: RouteRowForm | None) -> str:
    """What the layer that is not the cause shows: a second witness."""
    if row is None or cause not in (Cause.GENERATION, Cause.RETRIEVAL):
        return ""
    is_generation = cause is Cause.GENERATION
    cell = row.cells.get(Layer.RETRIEVAL if is_generation else Layer.GENERATION)
    if cell is None:
        return ""
    others = "the chunks" if is_generation else "the answers"
    if cell.state is State.HOLDS:
        return f"{others} {'are as good as before' if is_generation else 'keep to their chunks'}"
    if cell.state.is_alarm:
        return f"{others} got worse, too"
    if cell.state is State.UNKNOWN:
        return f"of {others} too little is known yet"
    direction = "fell" if (cell.delta or 0.0) < 0 else "rose"
    return f"{rubric_name(cell.rubric)} {direction} by {in_points(cell.delta)}, too"


def _change_support(incident: IncidentForm, change: ChangeForm | None, *, is_suspect: bool) -> str:
    """How the change lies to the onset, and whether somebody declared it."""
    if change is None:
        return "nothing was noticed in the 24 h before"
    declared = "declared" if change.is_declared else "no release declared"
    if incident.since is None:
        return declared
    lag = (incident.since - change.time).total_seconds()
    when = f"{duration(lag)} before" if lag >= 60 else "at the same time"
    near = "" if is_suspect else ", nothing changed nearer"
    return f"{when}{near}, {declared}"


def _is_small(issue: IssueLinkForm) -> bool:
    """Whether a new issue has too few answers to be news."""
    is_new = issue.state is IssueState.NEW and not issue.incident_id
    return is_new and issue.members < LEAST_TOLD


def _issue_of(incident: IncidentForm, issues: Sequence[IssueLinkForm]) -> IssueLinkForm | None:
    """The issue that holds the incident's answers; else one that looks like it.

    That has the same rubric on a route of the incident, or began with it there.
    """
    own = [issue for issue in issues if issue.incident_id == incident.incident_id]
    finding = main_finding(incident)
    routes = set(finding.routes) if finding else set()
    near = [
        issue
        for issue in issues
        if not issue.incident_id and (not routes or routes & set(issue.routes))
    ]
    rubric = finding.signal.partition(":")[0] if finding else ""
    same = [issue for issue in near if issue.rubric == rubric]
    together = [
        issue
        for issue in near
        if issue.first and incident.since and abs(issue.first - incident.since) <= NEAR
    ]
    return next(iter(own or same or together), None)


def _row_of(incident: IncidentForm, rows: Iterable[RouteRowForm]) -> RouteRowForm | None:
    """The row of the route on which the incident is; the worst of several."""
    finding = main_finding(incident)
    routes = set(finding.routes) if finding else set()
    place = (incident.service, incident.environment)
    fits = [row for row in rows if (row.service, row.environment) == place]
    return next((row for row in fits if row.route in routes), None)


def _changes(known: Known, incidents: Collection[OpenIncidentForm]) -> list[ChangeForm]:
    """The changes of a day, the last one before where there is none, and those of incidents."""
    behind = {each.change.id for each in incidents if each.change is not None}
    recent = [change for change in known.changes if known.now - change.time <= DAY]
    shown = {change.id for change in recent or known.changes[:1]} | behind
    return [change for change in known.changes if change.id in shown]


def _is_snoozed(incident: IncidentForm) -> bool:
    return incident.state is IncidentState.SNOOZED


def _urgency(incident: IncidentForm) -> tuple[bool, bool, float]:
    """Pages first, then the newest; what is snoozed last."""
    opened = incident.opened.timestamp() if incident.opened else 0.0
    return (_is_snoozed(incident), incident.severity is not Severity.PAGE, -opened)
