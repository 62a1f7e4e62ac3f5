"""`/api/v1/notices`: what changed of a service, on which route, since when."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from ragvigil.model.notice import CAUSES, Cause, ChangeKind, Notice
from ragvigil.store.records.record_forms import time_of
from ragvigil.store.watch import notices as stored
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


class NoticeForm(BaseModel):
    """One change on one route."""

    id: str
    kind: ChangeKind
    service: str
    environment: str
    route: str
    since: datetime = Field(description="time of the first request that shows it")
    noticed: datetime = Field(description="time of the request at which it was certain")
    requests: int = Field(description="requests of the route between them")
    share: float = Field(description="of the newest requests: under 1 while a change rolls out")
    before: str
    after: str
    causes: list[Cause] = Field(description="what such a change can explain; empty is anything")
    evidence: dict[str, object]


class NoticesForm(BaseModel):
    """Changes, the newest first."""

    notices: list[NoticeForm]


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
    """Changes that began since then, noticed in the traffic itself. They never page."""
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    found = stored.find(
        request.app.state.store, service=service, route=route, since=start, limit=limit
    )
    return NoticesForm(notices=[_form(one) for one in found])


def _form(one: Notice) -> NoticeForm:
    return NoticeForm(
        id=one.notice_id,
        kind=one.kind,
        service=one.service,
        environment=one.environment,
        route=one.route,
        since=time_of(one.since_unix_nano),
        noticed=time_of(one.noticed_unix_nano),
        requests=one.requests,
        share=one.share,
        before=one.before,
        after=one.after,
        causes=list(CAUSES[one.kind]),
        evidence=dict(one.evidence),
    )
