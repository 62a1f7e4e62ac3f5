"""The page of all routes, and the address under which others link to one: `/routes?route=NAME`."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api import deltas as deltas_api
from ragvigil.web.api import incidents as incidents_api
from ragvigil.web.pages.frame import render
from ragvigil.web.pages.route import route_page
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import Scope, scope_of
from ragvigil.web.views.chrome import chrome
from ragvigil.web.views.incidents import IncidentForm
from ragvigil.web.views.triage.layers import Place, route_rows, table_sentence

router = APIRouter()


@router.get(
    "/routes",
    include_in_schema=False,
    summary="How a route is doing, or all routes",
    dependencies=[Depends(Requires(Permission.READ))],
)
def routes(request: Request, axis: str = "") -> HTMLResponse:
    """The route of the scope; all of them where it names none.

    A name may hold slashes, dots and marks of any kind, so it stands in the query.
    """
    scope = scope_of(request)
    if scope.route:
        return route_page(request, scope, scope.route, axis)
    watched = chrome(request.app.state.store, request.app.state.clock().timestamp())
    places = [
        Place(place.service, place.environment, place.route)
        for place in watched.places
        if scope.service in ("", place.service) and scope.environment in ("", place.environment)
    ]
    deltas = deltas_api.deltas(
        request,
        service=scope.service,
        environment=scope.environment,
        route="",
        rubric="",
        layer="",
        window="6h",
        moved=False,
        since="",
        limit=10_000,
    ).deltas
    rows = route_rows(deltas, places, _open(request, scope))
    return render(request, "routes.html", title=table_sentence(rows), is_refreshed=True, rows=rows)


def _open(request: Request, scope: Scope) -> list[IncidentForm]:
    if request.app.state.incidents is None:
        return []
    found = incidents_api.incidents(
        request, state="", service=scope.service, since="1h", limit=100
    ).incidents
    return [incident for incident in found if incident.resolved is None]
