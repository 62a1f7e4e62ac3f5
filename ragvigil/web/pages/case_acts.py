"""What people do to a golden case on its page: edit, sign, decline, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import ValidationError
from starlette.responses import Response

from ragvigil.web.api.golden import GoldenSource, Source, case, edit, reject, run, sign
from ragvigil.web.pages.case import shown_case
from ragvigil.web.pages.forms import Fields, back_to
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.cases.editing import changes
from ragvigil.web.views.golden import EditPost, RejectPost, SignPost

router = APIRouter()

TRIAGE = [Depends(Requires(Permission.TRIAGE))]


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
        return shown_case(request, source, case_id, str(refusal.detail), refusal.status_code, typed)
    except ValidationError as error:
        return shown_case(request, source, case_id, _sentence(error), 422, typed)
    return back_to(f"/golden/{case_id}", request, done)


def _sentence(error: ValidationError) -> str:
    problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return "; ".join(problems)
