"""The pages of evaluations: what did the golden set say, and is it what users ask?"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.reports.evaluations import evaluation, evaluations
from ragvigil.web.drawings.whisker import whisker
from ragvigil.web.pages.reports.report_page import READ, report_page, since_of
from ragvigil.web.scope import scope_of
from ragvigil.web.views.reports import headings

router = APIRouter()

MOST = 50


@router.get(
    "/evaluations",
    summary="What did the golden set say before a release?",
    include_in_schema=False,
    dependencies=READ,
)
def evaluations_page(request: Request) -> HTMLResponse:
    """Runs that CI sent, newest first, each with the gate's verdict."""
    found = evaluations(request, limit=MOST)
    title = headings.evaluations_heading(found)
    return report_page(request, "evaluations.html", title, runs=found.evaluations)


@router.get(
    "/evaluations/{run_id}",
    summary="One run: the gate, and the set beside live traffic",
    include_in_schema=False,
    dependencies=READ,
)
def evaluation_page(request: Request, run_id: str) -> HTMLResponse:
    """The gate's reasons and comparisons, then the gap of each rubric and route."""
    online = evaluation(request, run_id, since=since_of(scope_of(request), "7d"))
    compared = headings.shown_comparisons(online.gate.comparisons) if online.gate else []
    return report_page(
        request,
        "evaluation.html",
        headings.evaluation_heading(online),
        online=online,
        run=online.evaluation,
        compared=[
            (
                each,
                whisker(
                    each.new - each.base, each.low, each.high, is_alarm=each.verdict == "worse"
                ),
            )
            for each in compared
        ],
    )
