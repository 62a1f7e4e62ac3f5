"""`/api/v1/sessions`: are users helped, and how often must they ask again?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.api.reports.source import report_source
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.reports.sessions import SessionsForm

router = APIRouter(prefix="/api/v1")


@router.get(
    "/sessions",
    summary="Sessions: turns to resolution, retries, reformulations, escalations, two rubrics",
    dependencies=[Depends(Requires(Permission.READ))],
)
def sessions(
    request: Request,
    service: Annotated[str, Query(max_length=256)] = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "7d",
) -> SessionsForm:
    """Sessions with an answer since a time that are over: half an hour without another answer."""
    now = request.app.state.clock()
    return report_source(request).sessions(point_of_time(since, now), now, service)
