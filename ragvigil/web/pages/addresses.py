"""Every address of pages and API, with what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from ragvigil.web.pages.frame import PAGES
from ragvigil.web.permissions import Permission, Requires

router = APIRouter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A line of the page."""

    method: str
    path: str
    summary: str
    permission: str


@router.get(
    "/addresses",
    summary="Every address, with what it answers",
    response_class=HTMLResponse,
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.NONE))],
)
def addresses(request: Request) -> HTMLResponse:
    """Every address with what it answers and the permission it needs."""
    routes = [
        Route(
            method=", ".join(sorted(route.methods or ())),
            path=route.path,
            summary=route.summary or "",
            permission=permission_of(route) or "",
        )
        for route in every_route(request.app)
    ]
    page = PAGES.get_template("addresses.html")
    state = request.app.state
    text = page.render(
        routes=routes, base=state.base, prefix=state.access.prefix, version=request.app.version
    )
    return HTMLResponse(text)


def every_route(app: Any) -> list[APIRoute]:
    """The routes of the application; static files are not among them."""
    routers: list[APIRouter] = app.state.routers
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]


def permission_of(route: APIRoute) -> Permission | None:
    """The permission that a route declares, None where it declares none."""
    for dependency in route.dependencies:
        if isinstance(dependency.dependency, Requires):
            return dependency.dependency.permission
    return None
