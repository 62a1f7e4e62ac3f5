"""`/api/v1/notices`: what changed of a service, on which route, since when."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.store.watch import notices as stored
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.notices import NoticesForm, notice_form

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/notices",
    summary="What changed: chunks, documents, models, prompt, settings, release",
    dependencies=[Depends(Requires(Permission.READ))],
)
def notices(
    request: Request,
    service: Name = "",
    route: Name = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago, like 7d"),
    ] = "7d",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> NoticesForm:
    """Changes that began since then, seen in the traffic itself. They never page."""
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    found = stored.find(
        request.app.state.store, service=service, route=route, since=start, limit=limit
    )
    return NoticesForm(notices=[notice_form(notice) for notice in found])
