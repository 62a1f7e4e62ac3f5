"""The page of a golden case: what is asked and expected, what failed, and the acts on it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse

from ragvigil.web.api.golden import GoldenSource, Source, case, golden_set
from ragvigil.web.api.records import trace
from ragvigil.web.identity import Person
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import ROLES, Permission, Requires
from ragvigil.web.views.cases.editing import rows, shown
from ragvigil.web.views.cases.evidence import (
    differences,
    failures,
    gold_chunks,
    signed_line,
)
from ragvigil.web.views.cases.words import Signer, case_heading, event_text, why_not_sign
from ragvigil.web.views.golden import CaseStoryForm
from ragvigil.web.views.records import RecordForm

router = APIRouter()

TRIAGE = [Depends(Requires(Permission.TRIAGE))]


@router.get(
    "/golden/{case_id}",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.READ))],
    summary="One golden case",
)
def case_page(request: Request, source: Source, case_id: str) -> HTMLResponse:
    """Its content, checks, source answer, what a proposal changes, events and runs."""
    return shown_case(request, source, case_id)


def signer_of(person: Person, source: GoldenSource) -> Signer:
    """A person as somebody who may sign."""
    may_approve = Permission.APPROVE in ROLES[person.role]
    return Signer(person=person, may_approve=may_approve, two_people=source.two_people)


def shown_case(
    request: Request,
    source: GoldenSource,
    case_id: str,
    problem: str = "",
    status: int = 200,
    typed: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The page of a case, with the problem of an act and what was typed."""
    found = case(request=request, source=source, case_id=case_id)
    why_not = why_not_sign(found, signer_of(request.state.person, source))
    record = _source_answer(request, found)
    may_change = found.state == "proposed" and found.revision > 1
    line = signed_line(found, golden_set(source=source).cases) if may_change else None
    fields = dict(typed or shown(found))
    return render(
        request,
        "case.html",
        title=case_heading(found, why_not),
        page="golden",
        path=f"/golden/{quote(case_id)}",
        status=status,
        case=found,
        why_not=why_not,
        problem=problem,
        is_typed=typed is not None,
        fields=fields,
        fact_rows=rows(fields, "fact"),
        text_rows=rows(fields, "text"),
        chunks=gold_chunks(found, record),
        record=record,
        failed=failures(record),
        differences=differences(found, line) if line else [],
        events=[(event, event_text(event)) for event in reversed(found.events)],
    )


def _source_answer(request: Request, found: CaseStoryForm) -> RecordForm | None:
    """The answer that the case came from, None where it is no longer stored."""
    if not found.trace_id:
        return None
    try:
        records = trace(request=request, trace_id=found.trace_id).records
    except HTTPException:  # its days of retention are over
        return None
    return next((record for record in records if record.record_id == found.record_id), None)
