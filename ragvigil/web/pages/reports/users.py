"""The page of rubrics against users: does a rubric say what users say?"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.proxies import proxies
from ragvigil.web.pages.frame import render
from ragvigil.web.pages.reports.span import since_of
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings

router = APIRouter()


@router.get(
    "/proxies",
    summary="Does a rubric say what users say?",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def users_page(request: Request) -> HTMLResponse:
    """Each rubric against each kind of feedback, best first."""
    scope = scope_of(request)
    found = proxies(request, service=scope.service, since=since_of(scope, "14d"))
    services = [each for each in found.services if scope.environment in ("", each.environment)]
    found = found.model_copy(update={"services": services})
    return render(
        request,
        "users.html",
        title=headings.users_heading(found),
        page="releases",
        found=found,
        words=headings,
    )
