"""The page of a golden case: what is asked and expected, what failed, and the acts on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse
from pydantic import ValidationError
from starlette.responses import Response

from ragvigil.web.api.golden import GoldenSource, Source, case, edit, golden_set, reject, run, sign
from ragvigil.web.api.records import trace
from ragvigil.web.identity import Person
from ragvigil.web.pages.forms import Fields, back_to
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import ROLES, Permission, Requires
from ragvigil.web.views.cases.editing import changes, rows, shown
from ragvigil.web.views.cases.evidence import (
    differences,
    failures,
    gold_chunks,
    signed_line,
)
from ragvigil.web.views.cases.words import Signer, case_heading, event_text, why_not_sign
from ragvigil.web.views.golden import CaseStoryForm, EditPost, RejectPost, SignPost
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
    return _page(request, source, case_id)


@router.post(
    "/golden/{case_id}/edit", include_in_schema=False, dependencies=TRIAGE, summary="Edit a case"
)
def edit_case(request: Request, source: Source, case_id: str, fields: Fields) -> Response:
    """Saves what was changed; what was typed stays where the case has changed meanwhile."""

    def save() -> None:
        now = case(request=request, source=source, case_id=case_id)
        changed = changes(now, fields)
        if not changed:
            raise HTTPException(409, "nothing of the case was changed")
        seen = int(fields["revision"]) if fields.get("revision", "").isdecimal() else None
        post = EditPost(revision=seen, **changed)
        edit(request=request, source=source, case_id=case_id, post=post)

    return _acted(request, source, case_id, "edit", save, typed=fields)


@router.post(
    "/golden/{case_id}/sign",
    include_in_schema=False,
    dependencies=[Depends(Requires(Permission.APPROVE))],
    summary="Sign a case",
)
def sign_case(request: Request, source: Source, case_id: str, fields: Fields) -> Response:
    """Signs the case as it was shown, and runs it."""

    def save() -> None:
        post = SignPost(
            content_hash=fields.get("content_hash", ""),
            despite_warnings="despite_warnings" in fields,
        )
        sign(request=request, source=source, case_id=case_id, post=post)

    return _acted(request, source, case_id, "sign", save)


@router.post(
    "/golden/{case_id}/reject",
    include_in_schema=False,
    dependencies=TRIAGE,
    summary="Decline a proposal",
)
def reject_case(request: Request, source: Source, case_id: str, fields: Fields) -> Response:
    """Declines it, with the reason."""

    def save() -> None:
        post = RejectPost(text=fields.get("text", ""))
        reject(request=request, source=source, case_id=case_id, post=post)

    return _acted(request, source, case_id, "reject", save)


@router.post(
    "/golden/{case_id}/run", include_in_schema=False, dependencies=TRIAGE, summary="Run a case"
)
def run_case(request: Request, source: Source, case_id: str, _: Fields) -> Response:
    """Runs it now, and shows the result among its runs."""

    def again() -> None:
        run(request=request, source=source, case_id=case_id)

    return _acted(request, source, case_id, "run", again)


def signer_of(person: Person, source: GoldenSource) -> Signer:
    """A person as somebody who may sign."""
    may_approve = Permission.APPROVE in ROLES[person.role]
    return Signer(person=person, may_approve=may_approve, two_people=source.two_people)


def _acted(
    request: Request,
    source: GoldenSource,
    case_id: str,
    done: str,
    act: Callable[[], object],
    typed: Mapping[str, str] | None = None,
) -> Response:
    """Acts, then leads back to the case; a refusal is said on its page, with what was typed."""
    try:
        act()
    except HTTPException as refusal:
        if refusal.status_code not in (403, 409, 422):
            raise
        return _page(request, source, case_id, str(refusal.detail), refusal.status_code, typed)
    except ValidationError as error:
        return _page(request, source, case_id, _sentence(error), 422, typed)
    return back_to(f"/golden/{case_id}", request, done)


def _sentence(error: ValidationError) -> str:
    problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return "; ".join(problems)


def _page(
    request: Request,
    source: GoldenSource,
    case_id: str,
    problem: str = "",
    status: int = 200,
    typed: Mapping[str, str] | None = None,
) -> HTMLResponse:
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
