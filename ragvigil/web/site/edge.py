"""The web of an edge or a scorer: its own books; for all else it says where the analyst is."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from ragvigil.web.api import health, people, posted, service
from ragvigil.web.pages import sign_in

PARTS = (service, health, posted, people, sign_in)
"""The modules with the routes that an edge answers: each one more takes memory beside a service."""
API = "/api/v1/"
OWN = frozenset({"status", "ledger", "doctor", "settings", "person", "feedback", "deploys"})
"""First steps of the API that an edge answers: of itself, or what services post to the daemon next
to them."""
OWN_PAGES = ("/static/", "/sign-in", "/sign-out")


IS_EDGE = "an edge: it receives and scores answers"


class EdgeWeb:
    """Passes on what an edge answers itself; `where` returns the analyst's address, or nothing.

    `what` says what this daemon is.
    """

    def __init__(self, app: ASGIApp, where: Callable[[], str], what: str = IS_EDGE) -> None:
        self._app, self._where, self._what = app, where, what

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        path = scope.get("path", "")
        is_api = path.startswith(API)
        step = path.removeprefix(API).partition("/")[0]
        if scope["type"] != "http" or (step in OWN if is_api else path.startswith(OWN_PAGES)):
            await self._app(scope, receive, send)
            return
        sentence = f"this daemon is {self._what}; {_analyst(self._where())}"
        body = json.dumps({"detail": sentence}) if is_api else f"{sentence}\n"
        kind = "application/json" if is_api else "text/plain; charset=utf-8"
        headers = [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]
        status = 200 if path == "/" else 404
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})


def _analyst(where: str) -> str:
    return f"the analyst is at {where}" if where else "no analyst leads now: none has the lease"
