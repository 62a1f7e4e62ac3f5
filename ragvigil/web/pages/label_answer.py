"""The page of one answer to label, blind: its verdict leads to the next."""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError

from ragvigil.web.api.label_queues import next_to_label, queue_named, rubric_of
from ragvigil.web.api.labels import label, take_back
from ragvigil.web.pages.forms import Fields
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.scope import scope_of
from ragvigil.web.views.posts import LabelPost

router = APIRouter()

LABEL = [Depends(Requires(Permission.LABEL))]


@router.get(
    "/label/{name}", include_in_schema=False, dependencies=LABEL, summary="An answer to label"
)
def answer_to_label(request: Request, name: str) -> HTMLResponse:
    """The next answer of a queue, without anybody's verdict on it."""
    return _next(request, name)


@router.post(
    "/label/{name}", include_in_schema=False, dependencies=LABEL, summary="Label an answer"
)
def save_label(request: Request, name: str, fields: Fields) -> RedirectResponse:
    """Stores the verdict, then shows the next answer."""
    rubric = rubric_of(request.app.state.judges, queue_named(request, name).rubric)
    named = {choice.name: choice for choice in rubric.choices}
    chosen = named.get(fields.get("verdict", ""))
    if chosen is None:
        raise HTTPException(422, "choose a verdict of this rubric")
    try:
        post = LabelPost(
            rubric=rubric.name,
            trace_id=fields.get("trace_id", ""),
            record_id=fields.get("record_id", ""),
            value=chosen.value,
            label="" if chosen.value is not None else chosen.name,
            source="page",
            comment=fields.get("comment", "").strip(),
        )
    except ValidationError as error:
        raise HTTPException(422, "this form names no answer, or its comment is too long") from error
    (saved,) = label(request=request, posts=post).labels
    return _to(request, name, done="label", last=saved.id)


@router.post(
    "/label/{name}/undo",
    include_in_schema=False,
    dependencies=LABEL,
    summary="Take back your last label",
)
def undo(request: Request, name: str, fields: Fields) -> RedirectResponse:
    """The answer comes back."""
    take_back(request=request, label_id=fields.get("label_id", ""))
    return _to(request, name, done="undo")


def _to(request: Request, name: str, **more: str) -> RedirectResponse:
    return RedirectResponse(scope_of(request).url(f"/label/{name}", **more), 303)


def _next(request: Request, name: str) -> HTMLResponse:
    shown = next_to_label(request=request, name=name)
    place = f"{shown.queue.done + 1} of {shown.queue.total}" if shown.answer else "done"
    return render(
        request,
        "label_answer.html",
        title=f"{shown.rubric.asks} {place}",
        page="label",
        shown=shown,
        last=request.query_params.get("last", "")[:256],
    )
