"""Forms of pages: the token against forgery, and the fields of a post."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from ragvigil.web.identity import Identity
from ragvigil.web.metrics import IDENTITY_REFUSED, Refusal
from ragvigil.web.sessions import Sessions

TOKEN_FIELD = "form_token"


def forgery_token(request: Request) -> str:
    """The token that every form of this reader's pages carries."""
    sessions: Sessions = request.app.state.access.sessions
    return sessions.form_token(_owner(request))


def _owner(request: Request) -> str:
    """Whose forms the reader's are."""
    identity: Identity | None = request.state.identity
    return identity.form_owner if identity else ""


async def _fields(request: Request) -> Mapping[str, str]:
    form = await request.form()
    sessions: Sessions = request.app.state.access.sessions
    if not sessions.is_form_token(str(form.get(TOKEN_FIELD, "")), _owner(request)):
        IDENTITY_REFUSED.labels(Refusal.FORM).inc()
        raise HTTPException(403, "this form is too old, or not of your page: load the page again")
    return {
        name: value
        for name, value in form.items()
        if name != TOKEN_FIELD and not isinstance(value, UploadFile)
    }


Fields = Annotated[Mapping[str, str], Depends(_fields)]
"""The fields of a form that came from a page of ours, without its token."""


async def _upload(request: Request, _: Fields) -> bytes:
    file = (await request.form()).get("file")
    if not isinstance(file, UploadFile):
        raise HTTPException(422, "choose a file first")
    return await file.read()


Upload = Annotated[bytes, Depends(_upload)]
"""The content of the file of such a form, which is of `multipart/form-data`."""


def back_to(path: str, request: Request, done: str, **chosen: str) -> RedirectResponse:
    """Sends the browser back to a page, which says what was done; `chosen` are its filters."""
    from ragvigil.web.scope import scope_of

    return RedirectResponse(scope_of(request).url(path, done=done, **chosen), 303)
