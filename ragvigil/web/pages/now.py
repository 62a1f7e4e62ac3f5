"""The page Now: is something wrong?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api import now as now_api
from ragvigil.web.drawings.sparkline import Sparkline, sparkline
from ragvigil.web.drawings.whisker import Whisker, whisker
from ragvigil.web.pages.frame import render
from ragvigil.web.pages.incident_chart import drawn_chart
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.rubric_names import rubric_name
from ragvigil.web.scope import scope_of
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.first_answer import first_answer
from ragvigil.web.views.triage.layers import CellForm, RouteRowForm
from ragvigil.web.views.triage.sentences import audit_lines

router = APIRouter()

DAY = timedelta(days=1)
LOOPBACK = "127.0.0.1"
SPARK_HOURS = 23
"""From the first to the last of 24 hourly means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCell:
    """A layer of a route, with its drawings."""

    cell: CellForm
    name: str
    whisker: Whisker
    sparkline: Sparkline


@router.get(
    "/",
    summary="Is something wrong?",
    response_class=HTMLResponse,
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
)
def now_page(request: Request) -> HTMLResponse:
    """Open incidents as sentences, every route by layer, what changed, what runs, what is new."""
    scope = scope_of(request)
    form = now_api.now(
        request, service=scope.service, environment=scope.environment, route=scope.route
    )
    moment: datetime = request.app.state.clock()
    status = request.app.state.status
    is_empty = form.last_answer is None and not form.incidents and not form.routes
    first = form.incidents[0] if form.incidents else None
    return render(
        request,
        "empty.html" if is_empty else "now.html",
        title=form.sentence,
        page="now",
        is_refreshed=True,
        form=form,
        first=first,
        drawn=first and drawn_chart(request.app.state.store, first, form.changes, moment),
        last_lines=audit_lines(form.last_audit) if form.last_audit else (),
        recent=[change for change in form.changes if moment - change.time <= DAY],
        behind={each.change.id: each for each in reversed(form.incidents) if each.change},
        judge=judge_state(status.judge()),
        empty=first_answer(status.status(), request.url.hostname or LOOPBACK) if is_empty else None,
        rows=[(row, drawn_cells(row, form.changes, moment)) for row in form.routes],
    )


def judge_state(judge: Mapping[str, Any]) -> dict[str, Any]:
    """What the judge has spent today, and whether it is off; neither where nothing is known."""
    return {"spent": judge.get("spent_today", ""), "is_off": judge.get("on") is False}


def drawn_cells(
    row: RouteRowForm, changes: Sequence[ChangeForm], now: datetime
) -> dict[str, DrawnCell]:
    """The layers of a route, each with its whisker and its line of 24 hours."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=SPARK_HOURS)

    def part(time: datetime) -> float:
        return min(max((time - first) / timedelta(hours=SPARK_HOURS), 0.0), 1.0)

    marks = [
        part(change.time)
        for change in changes
        if change.time >= first and (not change.routes or row.route in change.routes)
    ]
    return {
        layer: DrawnCell(
            cell=cell,
            name=rubric_name(cell.rubric),
            whisker=whisker(
                cell.delta,
                cell.low,
                cell.high,
                smallest_drop=cell.detection_limit,
                is_alarm=cell.state.is_alarm,
            ),
            sparkline=sparkline(
                cell.hours,
                says=f"{rubric_name(cell.rubric)} in the last 24 hours",
                onset=part(cell.since) if cell.since and cell.state.is_alarm else None,
                changes=marks,
            ),
        )
        for layer, cell in row.cells.items()
    }
