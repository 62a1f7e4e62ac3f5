"""The page of releases: which version is better?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.releases import releases
from ragvigil.web.pages.reports.report_page import READ, inside, report_page, since_of
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings

router = APIRouter()


@router.get(
    "/releases",
    summary="Which version is better?",
    include_in_schema=False,
    dependencies=READ,
)
def releases_page(
    request: Request, version: Annotated[str, Query(max_length=256)] = ""
) -> HTMLResponse:
    """Each version of a service with its figures, and by slice."""
    scope = scope_of(request)
    found = releases(request, service=scope.service, version=version, since=since_of(scope, "14d"))
    found_inside = found.model_copy(update={"releases": inside(scope, found.releases)})
    services = headings.services_of(found_inside)
    return report_page(
        request,
        "releases.html",
        headings.releases_heading(services),
        found=found,
        services=services,
        version=version,
        page_filters={"version": version} if version else {},
    )
