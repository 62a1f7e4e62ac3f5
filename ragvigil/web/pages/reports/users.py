"""The page of rubrics against users: does a rubric say what users say?"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.proxies import proxies
from ragvigil.web.pages.reports.report_page import READ, inside, report_page, since_of
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings

router = APIRouter()


@router.get(
    "/proxies",
    summary="Does a rubric say what users say?",
    include_in_schema=False,
    dependencies=READ,
)
def users_page(request: Request) -> HTMLResponse:
    """Each rubric against each kind of feedback, best first."""
    scope = scope_of(request)
    found = proxies(request, service=scope.service, since=since_of(scope, "14d"))
    found = found.model_copy(update={"services": inside(scope, found.services)})
    return report_page(request, "users.html", headings.users_heading(found), found=found)
