"""The page of releases: which version is better?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.releases import releases
from ragvigil.web.pages.frame import render
from ragvigil.web.pages.reports.span import since_of
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings
from ragvigil.web.views.reports.releases import ReleasesForm

router = APIRouter()


@router.get(
    "/releases",
    summary="Which version is better?",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def releases_page(
    request: Request, version: Annotated[str, Query(max_length=256)] = ""
) -> HTMLResponse:
    """Each version of a service with its figures, and by slice."""
    scope = scope_of(request)
    found = releases(request, service=scope.service, version=version, since=since_of(scope, "14d"))
    services = headings.services_of(_in(found, scope.environment))
    return render(
        request,
        "releases.html",
        title=headings.releases_heading(services),
        page="releases",
        found=found,
        services=services,
        version=version,
        page_filters={"version": version} if version else {},
        words=headings,
    )


def _in(found: ReleasesForm, environment: str) -> ReleasesForm:
    rows = [row for row in found.releases if environment in ("", row.environment)]
    return found.model_copy(update={"releases": rows})
