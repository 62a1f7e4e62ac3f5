"""`/api/v1/slices`: which part of the traffic got worse?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.api.reports.source import report_source
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.reports.slices import SlicesForm

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/slices",
    summary="Slices of the traffic against their own past: topic, language, tier, attribute",
    dependencies=[Depends(Requires(Permission.READ))],
)
def slices(
    request: Request,
    service: Name = "",
    dimension: Name = "",
    rubric: Name = "",
    worse: Annotated[bool, Query(description="only slices that are worse")] = False,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> SlicesForm:
    """Each slice and rubric over the 6 and the 24 hours until the last full hour.

    An hour counts a quarter of an hour after it ended.
    """
    found = report_source(request).slices(request.app.state.clock(), service)
    chosen = [
        row
        for row in found.slices
        if dimension in ("", row.dimension)
        and rubric in ("", row.rubric)
        and (row.is_worse or not worse)
    ]
    return found.model_copy(update={"slices": chosen[:limit]})
