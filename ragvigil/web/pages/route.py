"""The page of a route: how is it doing?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.store.issues import failing_rows
from ragvigil.store.issues.failing_rows import FailureFilter
from ragvigil.web.api import incidents as incidents_api
from ragvigil.web.api import issues as issues_api
from ragvigil.web.api import operating as operating_api
from ragvigil.web.api import series as series_api
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import TIMES, Scope, scope_of
from ragvigil.web.views.incidents import IncidentForm
from ragvigil.web.views.issues import IssueForm
from ragvigil.web.views.route import story
from ragvigil.web.views.route.charts import chart
from ragvigil.web.views.series import SeriesListForm
from ragvigil.web.views.triage.layers import Place, findings_on
from ragvigil.web.views.values import api_values

router = APIRouter()

READ = [Depends(Requires(Permission.READ))]
MOST_FAILING, MOST_ISSUES = 5, 5
TIME_WORDS = {"m": "minutes", "h": "hours", "d": "days"}


@router.get(
    "/routes/none", include_in_schema=False, summary="Answers of no route", dependencies=READ
)
def no_route(request: Request, axis: str = "") -> HTMLResponse:
    """A scope cannot name the empty route, so its page has an address of its own."""
    return route_page(request, scope_of(request), "", axis)


def route_page(request: Request, scope: Scope, name: str, axis: str) -> HTMLResponse:
    """The page of one route; `axis` is `zoom`, a rubric whose chart is zoomed, or empty."""
    now: datetime = request.app.state.clock()
    begin, end = scope.window(now)
    place, *others = _places(request, scope, name)
    charts = _charts(request, scope, place)
    incidents = _incidents(request, place, begin)
    open_ = [incident for incident in incidents if incident.resolved is None]
    rubrics = story.rubrics_of(charts.series, findings_on(place, open_))
    return render(
        request,
        "route.html",
        title=story.route_heading(name, rubrics, now, _window(scope)),
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
        points=operating_api.operating_points(
            request, service=place.service, route=name
        ).operating_points,
        failing=_failing(request, place, begin, end),
        issues=_issues(request, place),
    )


def _places(request: Request, scope: Scope, name: str) -> list[Place]:
    """Services of the scope with this route, the busiest first; as chosen where none has it."""
    chrome = request.app.state.chromes.read(request.app.state.clock().timestamp())
    matches = [
        Place(place.service, place.environment, place.route)
        for place in chrome.places
        if place.route == name
        and scope.service in ("", place.service)
        and scope.environment in ("", place.environment)
    ]
    return matches or [Place(scope.service, scope.environment, name)]


def _charts(request: Request, scope: Scope, place: Place) -> SeriesListForm:
    return series_api.series(
        request,
        service=place.service,
        environment=place.environment,
        route=place.route,
        rubric=[],
        since=scope.since,
        until=scope.until,
    )


def _incidents(request: Request, place: Place, begin: datetime) -> list[IncidentForm]:
    """Those of the route and the time, open ones first; none where the watch does not run."""
    if request.app.state.incidents is None:
        return []
    every = incidents_api.incidents(
        request, state="", service=place.service, since=begin.isoformat(), limit=100
    ).incidents
    of_route = [
        incident
        for incident in every
        if place.environment in ("", incident.environment)
        and any(place.route in finding.routes for finding in incident.findings)
    ]
    return sorted(of_route, key=lambda incident: incident.resolved is not None)


def _failing(
    request: Request, place: Place, begin: datetime, end: datetime
) -> Sequence[dict[str, Any]]:
    """The newest failing answers."""
    filter_ = FailureFilter(
        service=place.service,
        environment=place.environment,
        route=place.route,
        since=int(begin.timestamp()),
        until=int(end.timestamp()) + 60,
        newest_first=True,
        limit=MOST_FAILING if place.route else 200,
    )
    found = failing_rows.find(request.app.state.store, filter_)
    of_route = [kept for kept in found if kept.failure.route == place.route]
    return [api_values(kept.failure) for kept in of_route[:MOST_FAILING]]


def _issues(request: Request, place: Place) -> Sequence[IssueForm]:
    if request.app.state.issues is None or not place.route:
        return []
    return issues_api.issues(
        request,
        state=None,
        service=place.service,
        route=place.route,
        family=None,
        q="",
        limit=MOST_ISSUES,
    ).issues


def _window(scope: Scope) -> str:
    """The chosen time in words, for a sentence."""
    if scope.until or scope.since not in TIMES:
        return "this time"
    number, unit = scope.since[:-1], TIME_WORDS[scope.since[-1]]
    return f"the last {number} {unit}" if number != "1" else f"the last {unit.removesuffix('s')}"
