"""`/api/v1/traffic`: what the live records look like, route by route."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from ragvigil.store.records import traffic
from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

HOUR = 3600


class TrafficForm(BaseModel):
    """The records of a route; sizes are means in characters, null where unknown."""

    service: str
    environment: str
    route: str
    records: int
    question_characters: float
    answer_characters: float
    chunks: float = Field(description="chunks that reached the prompt")
    retrieved: float = Field(description="chunks that the retriever returned")
    citations: float
    chunk_characters: float | None
    hours: list[int] = Field(description="records by hour of the day (UTC), 24 counts")


class TrafficsForm(BaseModel):
    """Live traffic; replayed and imported records are left out."""

    hours: int
    traffic: list[TrafficForm]


@router.get(
    "/traffic",
    summary="How many live records there are, and how long they are",
    dependencies=[Depends(Requires(Permission.READ))],
)
def live_traffic(
    request: Request,
    hours: Annotated[int, Query(ge=1, le=24 * 28, description="so many hours back")] = 24,
) -> TrafficsForm:
    """The busiest route first."""
    since = int(request.app.state.clock().timestamp()) - hours * HOUR
    found = traffic.since(request.app.state.store, since)
    return TrafficsForm(
        hours=hours, traffic=[TrafficForm.model_validate(asdict(one)) for one in found]
    )
