"""`/api/v1/operating-points`: standing findings about how services are set up; none pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


class OperatingSource(Protocol):
    """What knows the operating points; the composition root provides it."""

    def points(self, now: float) -> list[Mapping[str, object]]:
        """Those that hold now (seconds since the epoch), with the keys of `OperatingPointForm`."""
        ...


class OperatingPointForm(BaseModel):
    """One standing finding; its 95 % interval lies wholly beyond the bound."""

    name: str = Field(description="low_utilization, over_fetching, under_fetching, thumbs_down, …")
    service: str
    environment: str
    route: str
    value: float = Field(description="of a pair that pulls apart: the change of what fell")
    low: float = Field(description="of the 95 % interval")
    high: float
    n: int
    bound: float
    words: str


class OperatingPointsForm(BaseModel):
    """By service, environment, route and name."""

    operating_points: list[OperatingPointForm]


@router.get(
    "/operating-points",
    summary="What is set up badly or well: context unused, recall missed, answers disliked",
    dependencies=[Depends(Requires(Permission.READ))],
)
def operating_points(request: Request, service: Name = "", route: Name = "") -> OperatingPointsForm:
    """One entry per route and point that holds; none where nothing watches."""
    source: OperatingSource | None = request.app.state.operating
    now = request.app.state.clock().timestamp()
    found = OperatingPointsForm.model_validate(
        {"operating_points": source.points(now) if source else []}
    )
    return OperatingPointsForm(
        operating_points=[
            one
            for one in found.operating_points
            if service in ("", one.service) and route in ("", one.route)
        ]
    )
