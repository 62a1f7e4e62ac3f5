"""`/api/v1/deltas` and `/api/v1/layer-health`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.store.scores.rubric_deltas import DeltaFilter
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.deltas import DeltasForm, deltas_since, newest_deltas
from ragvigil.web.views.layer_health import LayersHealthForm, read_layer_health

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/deltas",
    summary="Every rolling mean, compared with its own past",
    dependencies=[Depends(Requires(Permission.READ))],
)
def deltas(
    request: Request,
    service: Name = "",
    environment: Name = "",
    route: Name = "",
    rubric: Name = "",
    layer: Literal["", "retrieval", "generation", "cross_cutting"] = "",
    window: Literal["", "15m", "30m", "90m", "6h", "24h"] = "",
    moved: Annotated[bool, Query(description="only rows that moved (6h)")] = False,
    since: Annotated[
        str,
        Query(
            max_length=40,
            description="all rows since then instead of the newest: ISO 8601, epoch seconds, 6h",
        ),
    ] = "",
    limit: Annotated[int, Query(ge=1, le=50_000)] = 10_000,
) -> DeltasForm:
    """The newest tick of every series; with `since`, all rows since then, oldest first.

    The newest tick of a series without traffic is the last one at which it had some. Rows are of
    ticks that changed, and of every full hour: one stands until the next of its series and window.
    One with `n` 0 and no `coverage` says that the window holds nothing from then on. Ticks between
    full hours are kept for `[store] changes_days`.
    """
    now = request.app.state.clock()
    filter_ = DeltaFilter(
        service=service,
        environment=environment,
        route=route,
        rubric=rubric,
        layer=layer,
        window=window,
        since=int(point_of_time(since, now).timestamp()) if since else 0,
        limit=limit,
    )
    store = request.app.state.store
    found = deltas_since(store, filter_) if since else newest_deltas(store, filter_, now)
    return DeltasForm(deltas=[delta for delta in found if delta.moved or not moved])


@router.get(
    "/layer-health",
    summary="Retrieval and generation of every route over a day, each with its parts; never pages",
    dependencies=[Depends(Requires(Permission.READ))],
)
def layer_health(request: Request, service: Name = "", route: Name = "") -> LayersHealthForm:
    """The mean of three rubrics a layer; null while one of them has no mean of the last day."""
    now = int(request.app.state.clock().timestamp())
    found = read_layer_health(request.app.state.store, now, service=service, route=route)
    return LayersHealthForm(layer_health=found)
