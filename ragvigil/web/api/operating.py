"""`/api/v1/operating-points`: lasting facts about how services are set up; none pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.operating import OperatingPointForm, OperatingPointsForm

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


class OperatingSource(Protocol):
    """Computes operating points; the composition root provides it."""

    def points(self, now: float) -> Sequence[OperatingPointForm]:
        """The points that hold now, in seconds since the epoch."""
        ...


@router.get(
    "/operating-points",
    summary="Operating points: unused context, missed recall, disliked answers",
    dependencies=[Depends(Requires(Permission.READ))],
)
def operating_points(request: Request, service: Name = "", route: Name = "") -> OperatingPointsForm:
    """One entry per route and point that holds; none where the watch does not run."""
    source: OperatingSource | None = request.app.state.operating
    now = request.app.state.clock().timestamp()
    points = source.points(now) if source else ()
    return OperatingPointsForm(
        operating_points=[
            point
            for point in points
            if service in ("", point.service) and route in ("", point.route)
        ]
    )
