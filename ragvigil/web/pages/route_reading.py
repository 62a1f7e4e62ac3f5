"""What the page of a route reads of the API and the store."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from fastapi import Request

from ragvigil.store.issues import failing_rows
from ragvigil.store.issues.failing_rows import FailureFilter
from ragvigil.web.api import incidents as incidents_api
from ragvigil.web.api import issues as issues_api
from ragvigil.web.api import series as series_api
from ragvigil.web.scope import TIMES, Scope
from ragvigil.web.views.chrome import chrome
from ragvigil.web.views.incidents import IncidentForm
from ragvigil.web.views.issues import IssueForm
from ragvigil.web.views.series import SeriesListForm
from ragvigil.web.views.triage.layers import Place
from ragvigil.web.views.values import api_values

Answer = TypeVar("Answer")

MOST_FAILING, MOST_ISSUES = 5, 5
TIME_WORDS = {"m": "minutes", "h": "hours", "d": "days"}


def places_of(request: Request, scope: Scope, name: str) -> list[Place]:
    """Services of the scope with this route, the busiest first; as chosen where none has it."""
    watched = chrome(request.app.state.store, request.app.state.clock().timestamp())
    matches = [
        Place(place.service, place.environment, place.route)
        for place in watched.places
        if place.route == name
        and scope.service in ("", place.service)
        and scope.environment in ("", place.environment)
    ]
    return matches or [Place(scope.service, scope.environment, name)]


def charts_of(request: Request, scope: Scope, place: Place) -> SeriesListForm:
    return _kept(
        request,
        ("charts", place, scope.since, scope.until),
        lambda: series_api.series(
            request,
            service=place.service,
            environment=place.environment,
            route=place.route,
            rubric=[],
            since=scope.since,
            until=scope.until,
        ),
    )


def incidents_of(request: Request, place: Place, begin: datetime) -> list[IncidentForm]:
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
        and any(finding.is_on(place.route) for finding in incident.findings)
    ]
    return sorted(of_route, key=lambda incident: incident.resolved is not None)


def failing_of(
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


def issues_of(request: Request, place: Place) -> Sequence[IssueForm]:
    if request.app.state.issues is None or not place.route:
        return []
    return _kept(
        request,
        ("issues", place),
        lambda: (
            issues_api.issues(
                request,
                state=None,
                service=place.service,
                environment=place.environment,
                route=place.route,
                family=None,
                q="",
                limit=MOST_ISSUES,
            ).issues
        ),
    )


def _kept(request: Request, key: Hashable, read: Callable[[], Answer]) -> Answer:
    """What the page has read lately, for whoever looks at it next."""
    answer: Answer = request.app.state.store.kept.of(("route", key), read)
    return answer


def window_of(scope: Scope) -> str:
    """The chosen time in words, for a sentence."""
    if scope.until or scope.since not in TIMES:
        return "this time"
    number, unit = scope.since[:-1], TIME_WORDS[scope.since[-1]]
    return f"the last {number} {unit}" if number != "1" else f"the last {unit.removesuffix('s')}"
