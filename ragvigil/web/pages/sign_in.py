"""Signing in with a token, and out: `/sign-in`, `/sign-out`."""

from __future__ import annotations

from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import RedirectResponse, Response

from ragvigil.web.access import Access, peer_of
from ragvigil.web.acts import write_act
from ragvigil.web.metrics import IDENTITY_REFUSED, Refusal
from ragvigil.web.pages.forms import Fields, forgery_token
from ragvigil.web.pages.frame import PAGES
from ragvigil.web.permissions import ROLES, Permission, Requires
from ragvigil.web.slowdown import Slowdown

router = APIRouter()
SITE = "sec-fetch-site"
OPEN = [Depends(Requires(Permission.NONE))]
Next = Annotated[str, Query(alias="next", max_length=2048)]


@router.get("/sign-in", include_in_schema=False, summary="Sign in", dependencies=OPEN)
def sign_in_page(request: Request, wanted: Next = "/") -> Response:
    """Asks for a token; who is known is sent on.

    To somebody who follows a link from another site, an alert in a chat, the browser gives a page
    that asks for itself again: only then does it send the cookie, which is `SameSite=Strict`.
    """
    if request.state.identity is not None:
        return _to(request, wanted)
    return _page(request, wanted, "", asks_again=request.headers.get(SITE) == "cross-site")


@router.post("/sign-in", include_in_schema=False, summary="Sign in with a token", dependencies=OPEN)
def sign_in(request: Request, fields: Fields) -> Response:
    """Begins a session; a wrong token makes its address wait longer each time."""
    access: Access = request.app.state.access
    slowdown: Slowdown = request.app.state.slowdown
    address, wanted = peer_of(request.scope), fields.get("next", "/")
    if seconds := ceil(slowdown.wait_seconds(address)):
        IDENTITY_REFUSED.labels(Refusal.SIGN_IN_PAUSE).inc()
        page = _page(request, wanted, f"Too many wrong tokens: try again in {seconds} s.", 429)
        page.headers["retry-after"] = str(seconds)
        return page
    token = fields.get("token", "").strip()
    person = access.person_with(token)
    if person is None:
        slowdown.fail(address)
        IDENTITY_REFUSED.labels(Refusal.SIGN_IN).inc()
        return _page(request, wanted, "Nobody has this token.", 401)
    slowdown.forget(address)
    if Permission.READ not in ROLES[person.role]:
        return _page(request, wanted, f"A token of the role {person.role} reads no page.", 403)
    reply = _to(request, wanted)
    reply.headers["set-cookie"] = access.begin(token)
    write_act(request, "sign in", "sessions", person)
    return reply


@router.post("/sign-out", include_in_schema=False, summary="Sign out", dependencies=OPEN)
def sign_out(request: Request, _: Fields) -> Response:
    """Ends the session for good; a copy of its cookie opens nothing."""
    reply = _to(request, "/sign-in")
    reply.headers["set-cookie"] = request.app.state.access.end(request.state.identity)
    if request.state.person is not None:
        write_act(request, "sign out", "sessions")
    return reply


def local_path(wanted: str) -> str:
    r"""The page to go to, if it is one of ours, else the first.

    >>> [local_path(text) for text in ("/issues?state=new", "//evil.example", "/\t/evil.example")]
    ['/issues?state=new', '/', '/']
    """
    is_plain = wanted.isascii() and wanted.isprintable() and "\\" not in wanted
    is_ours = wanted.startswith("/") and not wanted.startswith("//")
    return wanted if is_plain and is_ours else "/"


def _to(request: Request, wanted: str) -> Response:
    access: Access = request.app.state.access
    return RedirectResponse(access.prefix + local_path(wanted), 303)


def _page(
    request: Request, wanted: str, problem: str, status: int = 200, *, asks_again: bool = False
) -> Response:
    """The form; nothing on it tells what is watched here."""
    access: Access = request.app.state.access
    text = PAGES.get_template("sign_in.html").render(
        prefix=access.prefix,
        wanted=local_path(wanted),
        problem=problem,
        asks_again=asks_again,
        form_token=forgery_token(request),
    )
    return Response(text, status, media_type="text/html")
