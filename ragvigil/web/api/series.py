"""`/api/v1/series`: rubrics over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.scores.series_bins import SeriesFilter
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.series import SeriesListForm, charts_of

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]
Time = Annotated[str, Query(max_length=40)]
PARTS_OF_A_CHART = 720
"""A chart may be older by a part of its time that nobody sees: two minutes of a day."""
MOST_DAYS = 400
"""Roll-ups are kept for so long."""


@router.get(
    "/series",
    summary="Rubrics over time: means with intervals, usual ranges, what changed",
    dependencies=[Depends(Requires(Permission.READ))],
)
def series(
    request: Request,
    service: Name = "",
    environment: Name = "",
    route: Annotated[
        str | None,
        Query(max_length=256, description="left out: all; empty: answers without a route"),
    ] = None,
    rubric: Annotated[
        list[Annotated[str, Query(max_length=256)]],
        Query(max_length=40, description="several are allowed; none is all"),
    ] = [],  # noqa: B006  FastAPI copies it
    since: Annotated[
        Time, Query(description="ISO 8601, epoch seconds, or how long ago, like 6h")
    ] = "24h",
    until: Annotated[Time, Query(description="as `since`; empty is now")] = "",
) -> SeriesListForm:
    """A series a rubric and route, in bins from a minute to a day that fit window and traffic."""
    now = request.app.state.clock()
    begin = point_of_time(since, now)
    end = point_of_time(until, now, "until") if until else now
    if begin >= end:
        raise HTTPException(422, f"query.since: {since} is not before until")
    if (end - begin).days > MOST_DAYS:
        raise HTTPException(422, f"query.since: at most {MOST_DAYS} days are kept")
    filter_ = SeriesFilter(
        service=service, environment=environment, route=route, rubrics=tuple(rubric)
    )
    store: Store = request.app.state.store
    charts: SeriesListForm = store.kept.of(
        ("series", filter_, store.kept.moving(begin.timestamp()), until),
        lambda: charts_of(store, filter_, begin, end),
        most_seconds=min(SLOW_SECONDS, (end - begin).total_seconds() / PARTS_OF_A_CHART),
    )
    return charts
