"""`/api/v1/records/{record_id}` and what belongs to an answer: its spans, and what is beside it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from ragvigil.model.incident import Incident
from ragvigil.model.issue import Issue
from ragvigil.store.engine.together import together
from ragvigil.store.issues import failing_rows
from ragvigil.store.issues.issues import IssueFilter
from ragvigil.store.issues.issues import find as find_issues
from ragvigil.store.issues.memberships import minute_of
from ragvigil.store.records import records, same_question
from ragvigil.store.records.same_question import Key, PlacedKey
from ragvigil.store.scores.usual import usual_values
from ragvigil.store.watch import incidents
from ragvigil.web.api.records import TraceId
from ragvigil.web.errors import Error
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.answers.related import (
    AnswerAndNeighbours,
    IncidentLink,
    IssueLink,
    RelatedForm,
    UsualForm,
    is_of,
)
from ragvigil.web.views.answers.spans import SpansForm, spans_form
from ragvigil.web.views.incidents import incident_form
from ragvigil.web.views.issue_pages.problems import title as problem_title
from ragvigil.web.views.records import RecordForm
from ragvigil.web.views.triage.sentences import heading

router = APIRouter(prefix="/api/v1")

READ = [Depends(Requires(Permission.READ))]
SEVERAL: dict[int | str, dict[str, object]] = {
    409: {"model": Error, "description": "Several records begin so."}
}
RecordId = Annotated[
    str,
    Path(pattern="^[0-9a-fA-F]{4,16}$", description="16 hex digits, or the first of them"),
]
OfTrace = Annotated[
    str,
    Query(
        alias="trace",
        pattern="^([0-9a-fA-F]{32})?$",
        description="the trace that it is in; finds it faster",
    ),
]


@router.get(
    "/records/{record_id}",
    summary="One answer: question, chunks, citations, verdict, every score with its reason",
    responses=SEVERAL,
    dependencies=READ,
)
def record(request: Request, record_id: RecordId, trace_id: OfTrace = "") -> RecordForm:
    """By its id, or its first characters where no other id begins so."""
    key = key_of(request, record_id.lower(), trace_id.lower()).key
    return _read(request, key)[key]


def key_of(request: Request, record_id: str, trace_id: str = "") -> PlacedKey:
    """The record whose id begins so. Raises HTTPException: 404 for none, 409 for several."""
    found = same_question.keys_of(request.app.state.store, record_id, trace_id=trace_id)
    if not found:
        behind = request.app.state.status.behind()
        may_come = f"; it may still come, {behind}" if behind else "; it may still come"
        raise HTTPException(404, f"no record {record_id} is stored{may_come}")
    if len(found) > 1:
        traces = ", ".join(sorted({each.trace_id for each in found})[:5])
        raise HTTPException(409, f"{record_id} begins several records, in the traces {traces}")
    return found[0]


def with_neighbours(request: Request, key: PlacedKey) -> AnswerAndNeighbours:
    """A record and the same question before and after. Raises HTTPException (404) without it."""
    beside = same_question.beside(request.app.state.store, key)
    others = [other for other in (beside.before, beside.after) if other]
    read = _read(request, key.key, *others)
    return AnswerAndNeighbours(
        record=read[key.key],
        before=read.get(beside.before) if beside.before else None,
        after=read.get(beside.after) if beside.after else None,
    )


def _read(request: Request, first: Key, *others: Key) -> dict[Key, RecordForm]:
    """Whole records; the first must be there."""
    stored = records.several(request.app.state.store, [first, *others])
    if first not in stored:
        raise HTTPException(404, f"record {first[1]} is past its retention")
    return {key: RecordForm.model_validate(record) for key, record in stored.items()}


@router.get(
    "/records/{record_id}/related",
    summary="What is beside an answer: its issue, incidents, the same question at another version",
    responses=SEVERAL,
    dependencies=READ,
)
def related(request: Request, record_id: RecordId, trace_id: OfTrace = "") -> RelatedForm:
    """What is not stored is null or empty."""
    key = key_of(request, record_id.lower(), trace_id.lower())
    return related_to(request, with_neighbours(request, key))


def related_to(request: Request, answers: AnswerAndNeighbours) -> RelatedForm:
    """What is beside an answer that has been read."""
    answer = answers.record
    usual, issue, on_route = together(
        lambda: usual_values(
            request.app.state.store,
            service=answer.service,
            environment=answer.environment,
            route=answer.route,
            until=_minute(answer.time) + 60,
        ),
        lambda: _issue(request, answer),
        lambda: _incidents(request, answer),
    )
    return RelatedForm(
        before=answers.before,
        after=answers.after,
        issue=issue,
        incidents=[_link(incident) for incident in on_route],
        usual=[
            UsualForm(rubric=rubric, segment=segment, answers=answers)
            for (rubric, segment), answers in sorted(usual.items())
        ],
    )


def _issue(request: Request, answer: RecordForm) -> IssueLink | None:
    """The issue of a failing answer, None where it is in none."""
    if answer.verdict.state == "passes" and not answer.feedback:
        return None
    store, minute = request.app.state.store, _minute(answer.time)
    filter_ = failing_rows.FailureFilter(
        trace_ids=(answer.trace_id,), since=minute, until=minute + 60
    )
    kept = failing_rows.find(store, filter_)
    of_answer = (each for each in kept if each.failure.record_id == answer.record_id)
    failing = next(of_answer, None)
    if failing is None or failing.membership is None:
        return None
    issue_id = failing.membership.issue_id
    found = find_issues(store, IssueFilter(issue_id=issue_id, with_merged=True))
    return next(map(_issue_link, found), None)


def _issue_link(issue: Issue) -> IssueLink:
    return IssueLink(
        issue_id=issue.issue_id, name=issue.name, heading=problem_title(issue), state=issue.state
    )


def _incidents(request: Request, answer: RecordForm) -> list[Incident]:
    since = incidents.IncidentFilter(service=answer.service, since=_minute(answer.time), limit=50)
    return [
        incident
        for incident in incidents.find(request.app.state.store, since)
        if is_of(incident, answer)
    ]


def _link(incident: Incident) -> IncidentLink:
    form = incident_form(incident, [])
    return IncidentLink(incident_id=form.incident_id, heading=heading(form), state=form.state)


def _minute(time: datetime) -> int:
    return minute_of(int(time.timestamp()) * 10**9)


@router.get(
    "/traces/{trace_id}/spans",
    summary="The spans of a trace, as they were sent",
    dependencies=READ,
)
def spans(request: Request, trace_id: TraceId) -> SpansForm:
    """By their start, with the texts of their chunks; empty past the retention of spans."""
    store, trace_id = request.app.state.store, trace_id.lower()
    return spans_form(trace_id, *records.kept_spans(store, trace_id))
