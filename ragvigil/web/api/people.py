"""Who asks, and who did what: `/api/v1/person`, `/api/v1/acts`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from ragvigil.store.engine.table import MOST_NANOS
from ragvigil.store.watch import acts as stored
from ragvigil.web.identity import Identity, Role, Way
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.values import view

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


class PersonForm(BaseModel):
    """Whoever sent the request."""

    name: str = Field(description="the name that this person's acts have")
    role: Role
    tags: list[str] = Field(description="bound what an approver may sign; empty is no bound")
    way: Way = Field(description="how the request showed it")


class ActForm(BaseModel):
    """What somebody did."""

    time: datetime
    person: str
    role: str = Field(description="the role that the person had")
    verb: str
    thing: str = Field(description="a path such as `issues/ID`")
    place: str = Field(description="`page` or `api`")


class ActsForm(BaseModel):
    """Acts that match, the newest first."""

    acts: list[ActForm]
    next: str | None = Field(description="the cursor of the next page; null on the last")


@router.get(
    "/person",
    summary="Whose your token is",
    dependencies=[Depends(Requires(Permission.READ))],
)
def person(request: Request) -> PersonForm:
    """The name under which your acts are written, and your role."""
    identity: Identity = request.state.identity
    who = identity.person
    return PersonForm(name=who.name, role=who.role, tags=sorted(who.tags), way=identity.way)


@router.get(
    "/acts",
    summary="Who did what, when, on a page or by the API",
    dependencies=[Depends(Requires(Permission.READ))],
)
def acts(
    request: Request,
    person: Name = "",
    verb: Name = "",
    thing: Annotated[
        str, Query(max_length=256, description="all that begins so: `issues`, `golden/ID`")
    ] = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "30d",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[
        str,
        Query(
            pattern=r"^([0-9]{1,19}-[0-9a-f]{16})?$",
            description="`next` of the page before, with its parameters",
        ),
    ] = "",
) -> ActsForm:
    """Newest first. An empty filter matches everything. Users' feedback is no act."""
    begin = int(point_of_time(since, request.app.state.clock()).timestamp())
    filter_ = stored.ActFilter(person=person, verb=verb, thing=thing, since=begin, limit=limit + 1)
    if cursor:
        nanos, _, act_id = cursor.partition("-")
        filter_ = replace(filter_, before=min(int(nanos), MOST_NANOS), before_id=act_id)
    found = stored.find(request.app.state.store, filter_)
    shown, more = found[:limit], found[limit:]
    last = f"{shown[-1].time_unix_nano}-{shown[-1].act_id}" if more else None
    return ActsForm(acts=[view(ActForm, act) for act in shown], next=last)
