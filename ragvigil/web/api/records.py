"""`/api/v1/traces/{trace_id}` and `/api/v1/records`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from ragvigil.store.records import records as stored
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.records import RecordsForm, TraceForm

router = APIRouter(prefix="/api/v1")

TraceId = Annotated[str, Path(pattern="^[0-9a-fA-F]{32}$", description="32 hex digits")]
Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/traces/{trace_id}",
    summary="One trace: question, chunks, answer, citations, every score with its reason",
    dependencies=[Depends(Requires(Permission.READ))],
)
def trace(request: Request, trace_id: TraceId) -> TraceForm:
    """The newest generation of every record of the trace."""
    found = stored.trace(request.app.state.store, trace_id.lower())
    if found is None:
        behind = request.app.state.status.behind()
        may_come = f"; it may still come, {behind}" if behind else ""
        raise HTTPException(404, f"no trace {trace_id.lower()} is stored{may_come}")
    return TraceForm.model_validate(found)


@router.get(
    "/records",
    summary="Answers by route, rubric, score, label and time",
    dependencies=[Depends(Requires(Permission.READ))],
)
def records(
    request: Request,
    service: Name = "",
    environment: Name = "",
    route: Name = "",
    rubric: Name = "",
    below: Annotated[
        float | None, Query(ge=0, le=1, description="only scores under this; needs no rubric")
    ] = None,
    label: Name = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "24h",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RecordsForm:
    """Newest first; with `rubric` or `below`, lowest score first.

    `below` and `label` together match one score that fulfils both; with `rubric`, a score of that
    rubric. An empty filter matches everything.
    """
    filter_ = stored.RecordFilter(
        service=service,
        environment=environment,
        route=route,
        rubric=rubric,
        below=below,
        label=label,
        since=int(point_of_time(since, request.app.state.clock()).timestamp()),
        limit=limit,
    )
    found = stored.find(request.app.state.store, filter_)
    return RecordsForm.model_validate({"records": found})
