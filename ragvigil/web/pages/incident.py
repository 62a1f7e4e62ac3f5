"""The page of an incident: what got worse, since when, because of what?"""

from __future__ import annotations

from datetime import datetime, timedelta

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from ragvigil.web.api import incidents as incidents_api
from ragvigil.web.drawings.series import Event
from ragvigil.web.drawings.whisker import Whisker, whisker
from ragvigil.web.pages.forms import Fields, back_to
from ragvigil.web.pages.frame import render
from ragvigil.web.pages.incident_answers import shown_answers
from ragvigil.web.pages.incident_chart import drawn_chart
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views.incidents import ActPost
from ragvigil.web.views.triage import incident_page as words
from ragvigil.web.views.triage import timeline as life
from ragvigil.web.views.triage.incident_reading import read_incident
from ragvigil.web.views.triage.layer_findings import (
    Asks,
    LayerFindingForm,
    layer_findings,
    layers_sentence,
)

router = APIRouter()

SNOOZES = {
    "1h": timedelta(hours=1),
    "4h": timedelta(hours=4),
    "1d": timedelta(days=1),
    "3d": timedelta(days=3),
    "7d": timedelta(days=7),
}


@router.get(
    "/incidents/{incident_id}",
    summary="What got worse, since when, because of what?",
    response_class=HTMLResponse,
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def incident_page(request: Request, incident_id: str, pairs: str = "") -> HTMLResponse:
    """Timeline, findings by layer, pairs of answers, suspects, five answers, what was done."""
    story = incidents_api.incident(request, incident_id)
    now: datetime = request.app.state.clock()
    facts = read_incident(request.app.state.store, story, now)
    opened = facts.opened
    steps = life.timeline(story, opened.change, facts.audits)
    events = [
        Event(time=step.time, words=step.short, is_alarm=step.is_onset)
        for step in steps
        if step.short
    ]
    found = layer_findings(story, facts.audits, facts.cells, _asks(request))
    return render(
        request,
        "incident.html",
        title=words.incident_heading(opened, now, scope_of(request).clock),
        page="now",
        is_refreshed=story.resolved is None,
        story=story,
        opened=opened,
        lead=words.incident_lead(opened, facts.audits),
        steps=life.shown(steps),
        drawn=drawn_chart(request.app.state.store, opened, facts.changes, facts.until, events),
        findings=[(row, _whisker(row)) for row in found],
        layers_sentence=layers_sentence(found),
        suspects=(views := words.suspects(story, facts.changes)),
        suspects_sentence=words.suspects_sentence(views),
        audits=facts.audits,
        **shown_answers(request.app.state.store, facts, shows_all=pairs == "all"),
    )


def _asks(request: Request) -> Asks:
    """The question of a rubric; empty where it is not known here."""

    def asks(rubric: str) -> str:
        form = request.app.state.judges.rubric(rubric)
        return form.asks if form else ""

    return asks


def _whisker(row: LayerFindingForm) -> Whisker:
    return whisker(
        row.change, row.low, row.high, smallest_drop=row.sees, is_alarm=row.state.is_alarm
    )


@router.post(
    "/incidents/{incident_id}/{verb}",
    summary="Acknowledge, snooze, mark as expected or false, resolve, hand over, note",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def act_on_incident(
    request: Request, incident_id: str, verb: incidents_api.PeoplesVerb, fields: Fields
) -> RedirectResponse:
    """Goes back to Now, where the form was on that page, else to the incident."""
    length = SNOOZES.get(fields.get("for", ""))
    if verb == "snooze" and length is None:
        raise HTTPException(422, f"choose how long to snooze: {', '.join(SNOOZES)}")
    post = ActPost(
        text=fields.get("text", ""),
        name=fields.get("name", ""),
        until=request.app.state.clock() + length if length else None,
    )
    incidents_api.act(request, incident_id=incident_id, verb=verb, post=post)
    path = "/" if fields.get("back") == "now" else f"/incidents/{incident_id}"
    return back_to(path, request, done=verb)
