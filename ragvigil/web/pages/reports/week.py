"""The page of the week: what should a person read, decide and renew?"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.digest import digest
from ragvigil.web.drawings.agreement import agreement
from ragvigil.web.pages.reports.report_page import READ, report_page, since_of
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings

router = APIRouter()


@router.get(
    "/digest",
    summary="What should a person read, decide and renew this week?",
    include_in_schema=False,
    dependencies=READ,
)
def week_page(request: Request) -> HTMLResponse:
    """Failures to read, gaps of the golden set, proposals, its age, and the judges."""
    scope = scope_of(request)
    place = {"service": scope.service, "environment": scope.environment}
    found = digest(request, **place, since=since_of(scope, "7d"))
    return report_page(
        request,
        "week.html",
        headings.week_heading(found),
        found=found,
        judges=[(each, agreement(each.kappa, each.low, each.high)) for each in found.judges],
    )
