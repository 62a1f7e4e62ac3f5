"""`/api/v1/releases`: how each version of a service does, by slice."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.api.reports.source import report_source
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.reports.releases import ReleasesForm

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/releases",
    summary="Versions by slice: recall, groundedness, relevance, refusals, latency, cost",
    dependencies=[Depends(Requires(Permission.READ))],
)
def releases(
    request: Request,
    service: Name = "",
    version: Name = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "14d",
) -> ReleasesForm:
    """Each version since a time. Slices are those of `[alerts.slices]`."""
    now = request.app.state.clock()
    found = report_source(request).releases(point_of_time(since, now), now, service)
    chosen = [row for row in found.releases if version in ("", row.version)]
    return found.model_copy(update={"releases": chosen})
