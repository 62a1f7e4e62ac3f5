"""`/api/v1/traces/{trace_id}` and `/api/v1/records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from ragvigil.store.records import records as stored
from ragvigil.store.records.record_counts import counts
from ragvigil.store.records.record_filter import LATEST, RecordFilter
from ragvigil.web.api.chosen import Asked, Chosen
from ragvigil.web.cursor import read_cursor, write_cursor
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.records import (
    FacetForm,
    FacetValueForm,
    RecordCountsForm,
    RecordsForm,
    TraceForm,
    record_summary,
)

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

router = APIRouter(prefix="/api/v1")

TraceId = Annotated[str, Path(pattern="^[0-9a-fA-F]{32}$", description="32 hex digits")]


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
    summary="Answers by route, score, rating, issue, words and time",
    dependencies=[Depends(Requires(Permission.READ))],
)
def records(
    request: Request,
    asked: Asked,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[
        str, Query(max_length=1024, description="`next` of the page before, with its parameters")
    ] = "",
) -> RecordsForm:
    """Newest first; with `rubric` or `below`, lowest score first. By default, of the last 24 hours.

    Conditions on scores (`rubric`, `below`, `label`, `layer`, `kind`, `failed`) must hold of one
    and the same score. An empty filter matches everything. Pages after the first look at the time
    of the first. With `text`, only the newest 100,000 answers of the time are looked at.
    """
    return page_of(request.app.state.store, asked, limit, cursor)


@router.get(
    "/record-counts",
    summary="How many answers match, and what they have in common",
    dependencies=[Depends(Requires(Permission.READ))],
)
def record_counts(request: Request, asked: Asked) -> RecordCountsForm:
    """Counts of the newest 5,000 answers that match the same parameters as of `/records`."""
    found = counts(request.app.state.store, asked.filter, asked.since)
    return RecordCountsForm(
        answers=found.answers,
        is_more=found.is_more,
        is_part=asked.is_part,
        facets=[_facet(name, values) for name, values in found.facets.items()],
        **times(asked.filter),
    )


def _facet(name: str, values: Mapping[str, int]) -> FacetForm:
    counted = [FacetValueForm(value=value, answers=answers) for value, answers in values.items()]
    return FacetForm.model_validate({"name": name, "values": counted})


def page_of(store: Store, asked: Chosen, limit: int, cursor: str) -> RecordsForm:
    """A page of the records that match. Raises HTTPException (422) for a wrong cursor."""
    filter_ = replace(asked.filter, limit=limit)
    page = read_cursor(cursor, filter_) if cursor else filter_
    found, last = stored.find_page(store, page)
    return RecordsForm(
        records=[record_summary(each) for each in found],
        is_part=asked.is_part,
        next=write_cursor(replace(page, after=last)) if last is not None else None,
        **times(page),
    )


def times(filter_: RecordFilter) -> dict[str, Any]:
    """`since` and `until` of a reply; no end is None."""
    return {
        "since": datetime.fromtimestamp(filter_.since, UTC),
        "until": datetime.fromtimestamp(filter_.until, UTC) if filter_.until < LATEST else None,
    }
