"""Guards of an issue, on its page: drafted, shown with what they catch, accepted, taken out."""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from ragvigil.web.api import rubrics as api
from ragvigil.web.pages.forms import Fields, back_to
from ragvigil.web.pages.issue import shown
from ragvigil.web.permissions import Permission, Requires

router = APIRouter()


@router.post(
    "/issues/{issue_id}/guard",
    include_in_schema=False,
    summary="Draft a guard of the issue",
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def draft(request: Request, issue_id: str, fields: Fields) -> HTMLResponse:
    """Shows the draft; nothing is live by it, and nothing of it is kept."""
    try:
        post = api.GuardPost.model_validate({"how": fields.get("how", "pattern")})
        guard = api.draft(request, issue_id, post)
    except ValidationError:
        return shown(request, issue_id, HTTPException(422, "how: any, pattern or judge"))
    except HTTPException as error:
        return shown(request, issue_id, error)
    return shown(request, issue_id, guard=guard)


@router.post(
    "/issues/{issue_id}/guard/accept",
    include_in_schema=False,
    summary="Make the guard live that was drafted",
    dependencies=[Depends(Requires(Permission.APPROVE))],
)
def accept(request: Request, issue_id: str, fields: Fields) -> Response:
    """The form carries the draft's text, which is checked as any rubric is."""
    names = ("text", "sentence")
    try:
        post = api.RubricPost.model_validate(
            {name: fields.get(name, "") for name in names} | {"issue_id": issue_id}
        )
        api.accept(request, post)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        return shown(request, issue_id, HTTPException(422, f"{where}: {problem['msg']}"))
    except HTTPException as error:
        return shown(request, issue_id, error)
    return back_to(f"/issues/{issue_id}", request, "guard")


@router.post(
    "/issues/{issue_id}/guard/remove",
    include_in_schema=False,
    summary="Take a live guard out",
    dependencies=[Depends(Requires(Permission.APPROVE))],
)
def remove(request: Request, issue_id: str, fields: Fields) -> Response:
    """What only it failed leaves the issue."""
    try:
        api.remove(request, fields.get("name", ""), api.RemovePost())
    except HTTPException as error:
        return shown(request, issue_id, error)
    return back_to(f"/issues/{issue_id}", request, "unguard")
