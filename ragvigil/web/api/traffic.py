"""`/api/v1/traffic`: what the live records look like, route by route."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel

from ragvigil.store.records import traffic
from ragvigil.store.records.traffic import Traffic
from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

HOUR = 3600


class TrafficsForm(BaseModel):
    """Live traffic; replayed and imported records are left out."""

    hours: int
    traffic: list[Traffic]


@router.get(
    "/traffic",
    summary="Live traffic by route: how many answers, how long",
    dependencies=[Depends(Requires(Permission.READ))],
)
def live_traffic(
    request: Request,
    hours: Annotated[int, Query(ge=1, le=24 * 28, description="how many hours back")] = 24,
) -> TrafficsForm:
    """The busiest route first."""
    since = int(request.app.state.clock().timestamp()) - hours * HOUR
    return TrafficsForm(hours=hours, traffic=traffic.since(request.app.state.store, since))
