"""Forms of pages: the token against forgery, and the fields of a post."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

TOKEN_FIELD = "form_token"


def forgery_token(request: Request) -> str:
    """The token that every form of this reader's pages carries."""
    return str(request.state.form_token)


async def _fields(request: Request) -> Mapping[str, str]:
    form = await request.form()
    if form.get(TOKEN_FIELD) != request.state.form_token:
        raise HTTPException(403, "this form is not from a page of yours; load the page again")
    return {
        name: value
        for name, value in form.items()
        if name != TOKEN_FIELD and not isinstance(value, UploadFile)
    }


Fields = Annotated[Mapping[str, str], Depends(_fields)]
"""The fields of a form that came from a page of ours, without its token."""


def back_to(path: str, request: Request, done: str) -> RedirectResponse:
    """Sends the browser back to a page, which says what was done."""
    from ragvigil.web.scope import scope_of

    request.app.state.chromes.forget()
    return RedirectResponse(scope_of(request).url(path, done=done), 303)
