"""The page of slices: which part of the traffic got worse?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.slices import slices
from ragvigil.web.drawings.whisker import whisker
from ragvigil.web.pages.reports.report_page import READ, inside, report_page
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings

router = APIRouter()

MOST_ROWS, ALL = 30, 10_000


@router.get(
    "/slices",
    summary="Which part of the traffic got worse?",
    include_in_schema=False,
    dependencies=READ,
)
def slices_page(
    request: Request, dimension: Annotated[str, Query(max_length=256)] = "", all: bool = False
) -> HTMLResponse:
    """Each slice and rubric against its own past, what is worse first."""
    scope = scope_of(request)
    found = slices(request, service=scope.service, dimension="", rubric="", worse=False, limit=ALL)
    found = found.model_copy(update={"slices": inside(scope, found.slices)})
    chosen = [row for row in found.slices if dimension in ("", row.dimension)]
    shown = chosen if all else chosen[: max(MOST_ROWS, sum(row.is_worse for row in chosen))]
    return report_page(
        request,
        "slices.html",
        headings.slices_heading(found),
        found=found,
        rows=[(row, whisker(row.delta, row.low, row.high, is_alarm=row.is_worse)) for row in shown],
        all_rows=len(chosen),
        dimensions=sorted(
            {row.dimension for row in found.slices} | ({dimension} if dimension else set())
        ),
        dimension=dimension,
        page_filters={"dimension": dimension} if dimension else {},
    )
