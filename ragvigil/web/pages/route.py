"""The page of a route: how is it doing?"""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.store.engine.together import together
from ragvigil.web.api import operating as operating_api
from ragvigil.web.pages.frame import render
from ragvigil.web.pages.route_reading import (
    charts_of,
    failing_of,
    incidents_of,
    issues_of,
    places_of,
    window_of,
)
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import Scope, scope_of
from ragvigil.web.views.route import story
from ragvigil.web.views.route.charts import chart
from ragvigil.web.views.triage.layers import findings_on

router = APIRouter()

READ = [Depends(Requires(Permission.READ))]


@router.get(
    "/routes/none", include_in_schema=False, summary="Answers of no route", dependencies=READ
)
def no_route(request: Request, axis: str = "") -> HTMLResponse:
    """A scope cannot name the empty route, so its page has an address of its own.

    Whoever chooses a route there is shown that one.
    """
    scope = scope_of(request)
    return route_page(request, scope, scope.route, axis)


def route_page(request: Request, scope: Scope, name: str, axis: str) -> HTMLResponse:
    """The page of one route; `axis` is `zoom`, a rubric whose chart is zoomed, or empty."""
    now: datetime = request.app.state.clock()
    begin, end = scope.window(now)
    place, *others = places_of(request, scope, name)
    charts, incidents, points, (failing, issues) = together(
        lambda: charts_of(request, scope, place),
        lambda: incidents_of(request, place, begin),
        lambda: operating_api.operating_points(request, service=place.service, route=name),
        lambda: (failing_of(request, place, begin, end), issues_of(request, place)),
    )
    open_ = [incident for incident in incidents if incident.resolved is None]
    rubrics = story.rubrics_of(charts.series, findings_on(place, open_), charts.local)
    return render(
        request,
        "route.html",
        title=story.route_heading(name, rubrics, now, window_of(scope), scope.clock),
        is_refreshed=not scope.until,
        name=name or story.NO_ROUTE,
        place=place,
        others=others,
        lead=story.route_lead(rubrics, charts.changes),
        layers=story.layers_of(rubrics),
        drawn={
            each.rubric: chart(
                each, charts.changes, begin, end, is_zoomed=axis in ("zoom", each.rubric)
            )
            for each in rubrics
        },
        changes=charts.changes,
        rates=charts.rates,
        axis=axis,
        rate=story.rate_words(story.answers_per_hour(rubrics)),
        incidents=incidents,
        points=points.operating_points,
        failing=failing,
        issues=issues,
    )
