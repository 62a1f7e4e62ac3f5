"""What is wrong, and what people do about it: `/api/v1/incidents`, `/api/v1/why`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.model.incident import Incident, Verb
from ragvigil.store.watch import incidents as stored
from ragvigil.web.acts import write_act
from ragvigil.web.errors import Error
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.incidents import (
    ActPost,
    IncidentForm,
    IncidentsForm,
    IncidentStoryForm,
    WhyForm,
    incident_form,
    incident_story,
    pages_form,
)
from ragvigil.web.views.layer_health import read_layer_health

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]
PeoplesVerb = Literal[
    "acknowledge", "snooze", "expected", "false_page", "resolve", "assign", "note"
]


class NoSuchIncident(LookupError):
    """There is no incident of this id."""


class VerbRefused(ValueError):
    """The verb does not fit the incident's state; `str(error)` says why."""


class IncidentSource(Protocol):
    """Keeps incidents; the composition root provides it."""

    def lines(self, incident: Incident) -> Sequence[str]:
        """The message of an incident, at most six lines."""
        ...

    def act(
        self, incident_id: str, verb: Verb, actor: str, text: str, until: float, name: str
    ) -> Incident:
        """Applies a person's verb; `until` in seconds since the epoch, 0 for none.

        `name` is who has it after `assign`. Raises NoSuchIncident or VerbRefused.
        """
        ...

    def why(self, service: str, route: str) -> Sequence[str]:
        """What is wrong on a route now and why, at most ten lines; an empty name matches all."""
        ...


def _source(request: Request) -> IncidentSource:
    source: IncidentSource | None = request.app.state.incidents
    if source is None:
        raise HTTPException(404, "no incidents are kept here: the watch does not run")
    return source


@router.get(
    "/incidents",
    summary="Incidents: one a cause, whatever the number of rubrics and routes",
    dependencies=[Depends(Requires(Permission.READ))],
)
def incidents(
    request: Request,
    state: Literal["", "open", "acknowledged", "snoozed", "resolved"] = "",
    service: Name = "",
    since: Annotated[
        str,
        Query(
            max_length=40,
            description="not resolved before: ISO 8601, epoch seconds, or how long ago, like 7d",
        ),
    ] = "7d",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> IncidentsForm:
    """Newest first; with them, how many pages there were and how many of those were right."""
    source = _source(request)
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    filter_ = stored.IncidentFilter(service=service, state=state, since=start, limit=limit)
    store = request.app.state.store
    found = stored.find(store, filter_)
    return IncidentsForm(
        incidents=[incident_form(incident, source.lines(incident)) for incident in found],
        pages=pages_form(stored.pages(store)),
    )


@router.get(
    "/incidents/{incident_id}",
    summary="One incident: its message, what is worse, what changed before, what was done",
    dependencies=[Depends(Requires(Permission.READ))],
)
def incident(request: Request, incident_id: str) -> IncidentStoryForm:
    """Events are ordered by time."""
    source, store = _source(request), request.app.state.store
    matches = stored.find(store, stored.IncidentFilter(incident_id=incident_id))
    if not matches:
        raise HTTPException(404, f"there is no incident {incident_id}")
    events = stored.events(store, incident_id)
    return incident_story(incident_form(matches[0], source.lines(matches[0])), events)


@router.post(
    "/incidents/{incident_id}/{verb}",
    summary="Acknowledge, snooze, mark as expected or as a false page, resolve, assign, note",
    responses={409: {"model": Error, "description": "The incident does not take this verb."}},
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def act(
    request: Request,
    incident_id: str,
    verb: PeoplesVerb,
    post: ActPost,
) -> IncidentForm:
    """`expected` makes the new level the one to compare with; it and `false_page` also resolve."""
    source = _source(request)
    if Verb(verb) is Verb.SNOOZE and post.until is None:
        raise HTTPException(422, "body.until: snooze needs a time to end at")
    until, actor = post.until.timestamp() if post.until else 0.0, request.state.person.name
    try:
        after = source.act(incident_id, Verb(verb), actor, post.text, until, post.name)
    except NoSuchIncident as error:
        raise HTTPException(404, str(error)) from error
    except VerbRefused as error:
        raise HTTPException(409, str(error)) from error
    write_act(request, verb, f"incidents/{incident_id}")
    return incident_form(after, source.lines(after))


@router.get(
    "/why",
    summary="What is wrong right now and why, in ten lines; else what could be seen",
    dependencies=[Depends(Requires(Permission.READ))],
)
def why(request: Request, route: Name = "", service: Name = "") -> WhyForm:
    """Open incidents first; without any, the last changes, running audits and what can be seen."""
    state = request.app.state
    health = read_layer_health(
        state.store, int(state.clock().timestamp()), service=service, route=route
    )
    return WhyForm(lines=list(_source(request).why(service, route)), layer_health=health)
