"""`/api/v1/proxies`: does a rubric track what users say?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.api.reports.source import report_source
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.reports.proxies import ProxiesForm

router = APIRouter(prefix="/api/v1")


@router.get(
    "/proxies",
    summary="Rubrics against users: thumbs-down, escalations, corrections, retries",
    dependencies=[Depends(Requires(Permission.READ))],
)
def proxies(
    request: Request,
    service: Annotated[str, Query(max_length=256)] = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "14d",
) -> ProxiesForm:
    """Each rubric against each kind of feedback: area under the curve, lift, all rubrics together.

    Compared are scores of the uniform sample. Feedback that names a session only is about no single
    answer. Answers to one question are one voice.
    """
    source = report_source(request)
    return source.proxies(point_of_time(since, request.app.state.clock()), service)
