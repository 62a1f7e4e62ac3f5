"""`/api/v1/traces/{trace_id}` and `/api/v1/records`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from ragvigil.store.records import records as stored
from ragvigil.store.records.records import LATEST
from ragvigil.web.cursor import read_cursor, write_cursor
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.records import RecordsForm, TraceForm

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

router = APIRouter(prefix="/api/v1")

TraceId = Annotated[str, Path(pattern="^[0-9a-fA-F]{32}$", description="32 hex digits")]
Name = Annotated[str, Query(max_length=256)]
DEFAULT_SINCE = "24h"


@router.get(
    "/traces/{trace_id}",
    summary="One trace: question, chunks, answer, citations, every score with its reason",
    dependencies=[Depends(Requires(Permission.READ))],
)
def trace(request: Request, trace_id: TraceId) -> TraceForm:
    """The newest generation of every record of the trace."""
    found = stored.trace(request.app.state.store, trace_id.lower())
    if found is None:
        behind = request.app.state.status.behind()
        may_come = f"; it may still come, {behind}" if behind else ""
        raise HTTPException(404, f"no trace {trace_id.lower()} is stored{may_come}")
    return TraceForm.model_validate(found)


@router.get(
    "/records",
    summary="Answers by route, rubric, score, label and time",
    dependencies=[Depends(Requires(Permission.READ))],
)
def records(
    request: Request,
    service: Name = "",
    environment: Name = "",
    route: Name = "",
    rubric: Name = "",
    below: Annotated[
        float | None, Query(ge=0, le=1, description="only scores under this; needs no rubric")
    ] = None,
    label: Name = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = DEFAULT_SINCE,
    until: Annotated[
        str, Query(max_length=40, description="only answers before this, written as in `since`")
    ] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[
        str, Query(max_length=1024, description="`next` of the page before, with its parameters")
    ] = "",
) -> RecordsForm:
    """Newest first; with `rubric` or `below`, lowest score first. By default, of the last 24 hours.

    `below` and `label` together match one score that fulfils both; with `rubric`, a score of that
    rubric. An empty filter matches everything. Pages after the first look at the time of the first.
    """
    filter_ = stored.RecordFilter(
        service=service,
        environment=environment,
        route=route,
        rubric=rubric,
        below=below,
        label=label,
        limit=limit,
    )
    begin, end = _window(since, until, request.app.state.clock())
    first = replace(filter_, since=begin, until=end)
    return _page(request.app.state.store, read_cursor(cursor, filter_) if cursor else first)


def _window(since: str, until: str, now: datetime) -> tuple[int, int]:
    """The window in seconds since the epoch; it has no end where `until` is empty."""
    begin = min(int(point_of_time(since, now).timestamp()), LATEST)
    end = min(int(point_of_time(until, now, "until").timestamp()), LATEST) if until else LATEST
    if end <= begin:
        raise HTTPException(422, f"query.until: {until or 'now'} is not after since, {since}")
    return begin, end


def _page(store: Store, page: stored.RecordFilter) -> RecordsForm:
    found, last = stored.find_page(store, page)
    return RecordsForm.model_validate(
        {
            "records": found,
            "since": datetime.fromtimestamp(page.since, UTC),
            "until": datetime.fromtimestamp(page.until, UTC) if page.until < LATEST else None,
            "next": write_cursor(replace(page, after=last)) if last is not None else None,
        }
    )
